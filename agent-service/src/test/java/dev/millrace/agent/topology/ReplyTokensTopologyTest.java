package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.core.Children;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Extensions;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replies are believed if they show the token of the call that they are for. */
class ReplyTokensTopologyTest {

    private static final String SECRET = "the secret of all instances of agent";
    private static final String BEFORE = "the secret that they had until today";
    private static final String TOOL = "ship";
    private static final String REFUSED = "bad_reply_token";

    @TempDir
    Path stateDir;

    @Test
    @DisplayName("the request has a token, the journal has none, and the reply that shows it is the one that is taken")
    void shouldTakeTheReplyThatShowsTheToken() {
        try (TestMachine machine = acting(ReplySecrets.of(List.of(SECRET), true), "m1")) {
            Event request = request(machine);
            assertThat(machine.journal())
                    .extracting(Event::type)
                    .as("the request is told")
                    .contains(KnownEventType.TOOL_CALL_REQUESTED);

            // when
            machine.send(result(request, null));
            machine.send(result(request, "guessed"));
            machine.send(result(request, token(request)).namespace("rival"));
            machine.send(result(request, token(request)).taskId("m2"));
            machine.send(result(request, token(request)).payload(payload("another/call")));
            List<TestRecord<byte[], byte[]>> refused = machine.deadLetterRecords();
            List<Event> untouched = machine.journal();
            machine.send(result(request, token(request)));

            // then
            assertThat(refused)
                    .hasSize(5)
                    .allSatisfy(letter -> assertThat(new String(
                                    letter.headers()
                                            .lastHeader(DeadLetters.REASON)
                                            .value(),
                                    StandardCharsets.UTF_8))
                            .isEqualTo(REFUSED))
                    .allSatisfy(letter -> assertThat(letter.headers().lastHeader("ce_" + Extensions.REPLY_TOKEN))
                            .isNull());
            assertThat(untouched).isEmpty();
            assertThat(machine.journal())
                    .filteredOn(event -> event.type() == KnownEventType.TOOL_CALL_COMPLETED)
                    .singleElement()
                    .satisfies(event -> assertThat(event.extensions()).isEmpty());
            assertThat(machine.deadLetters()).isEmpty();
            assertThat(machine.called()).containsExactly("m1", "m1");
        }
    }

    @Test
    @DisplayName(
            "what somebody puts on the lane of cancels is sent to its own with the token that it shows, and no other")
    void shouldSignNothingThatItSendsOnForOthers() {
        try (TestMachine machine = acting(ReplySecrets.of(List.of(SECRET), true), "m1")) {
            Event request = request(machine);
            Event child = TestMachine.message(Children.idOf("m1/1/1"))
                    .payload(Map.of("text", "go", "parent", Map.of("taskId", "m1", "callId", "m1/1/1")))
                    .build();

            // when
            ahead(machine, result(request, null).build());
            ahead(machine, result(request, "guessed").build());
            ahead(machine, child);
            List<String> refused = machine.deadLetters();
            ahead(machine, result(request, token(request)).build());

            // then
            assertThat(refused).containsExactly(REFUSED, REFUSED, REFUSED);
            assertThat(machine.deadLetters()).isEmpty();
            assertThat(machine.called()).containsExactly("m1", "m1");
        }
    }

    /** Puts it on the lane of cancels, where it does not belong. */
    private static void ahead(TestMachine machine, Event event) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(TestMachine.TOPICS.lane(Segment.SYSTEM), event);
        machine.sendRaw(
                encoded.topic(), encoded.key().getBytes(StandardCharsets.UTF_8), encoded.value(), encoded.headers());
    }

    @Test
    @DisplayName("nothing of the machine's own in the journal has a token")
    void shouldKeepTokensOutOfTheJournal() {
        try (TestMachine machine = acting(ReplySecrets.of(List.of(SECRET), true), "m1")) {
            assertThat(machine.journal())
                    .isNotEmpty()
                    .allSatisfy(event -> assertThat(event.extensions()).isEmpty());
        }
    }

    @Test
    @DisplayName("a token counts as long as the secret that made it is named, and the first one makes new ones")
    void shouldTakeTokensOfEverySecret() {
        ReplySecrets both = ReplySecrets.of(List.of(SECRET, BEFORE), true);
        try (TestMachine machine = acting(both, "m1")) {
            Event asked = request(machine);

            // when: one of the time before the secret was changed
            Event old = ReplySecrets.of(List.of(BEFORE), true)
                    .signed(result(asked, null).build());
            machine.send(old);

            // then
            assertThat(machine.deadLetters()).isEmpty();
            assertThat(machine.called()).containsExactly("m1", "m1");
            assertThat(token(asked))
                    .isEqualTo(ReplySecrets.of(List.of(SECRET), true)
                            .signed(result(asked, null).build())
                            .extension(Extensions.REPLY_TOKEN))
                    .isNotEqualTo(old.extension(Extensions.REPLY_TOKEN));
        }
    }

    @Test
    @DisplayName("while workers learn to show it, a reply without a token is taken, and one with a wrong token is not")
    void shouldLetWorkersLearn() {
        try (TestMachine machine = acting(ReplySecrets.of(List.of(SECRET), false), "m1")) {
            Event request = request(machine);

            // when
            machine.send(result(request, "guessed"));
            List<String> refused = machine.deadLetters();
            machine.send(result(request, null));

            // then
            assertThat(refused).containsExactly(REFUSED);
            assertThat(machine.deadLetters()).isEmpty();
            assertThat(machine.called()).containsExactly("m1", "m1");
        }
    }

    @Test
    @DisplayName("without a secret nothing is signed, every reply is taken, and what it shows is not kept")
    void shouldSignNothingWithoutASecret() {
        try (TestMachine machine = acting(ReplySecrets.of(List.of(), true), "m1")) {
            Event request = request(machine);
            machine.journal();

            // when
            machine.send(result(request, "anything"));

            // then
            assertThat(request.extensions()).isEmpty();
            assertThat(machine.deadLetters()).isEmpty();
            assertThat(machine.journal())
                    .filteredOn(event -> event.type() == KnownEventType.TOOL_CALL_COMPLETED)
                    .singleElement()
                    .satisfies(event -> assertThat(event.extensions()).isEmpty());
        }
    }

    @Test
    @DisplayName("whoever may write to a lane answers for no model")
    void shouldNotBelieveRepliesOfModels() {
        ReplySecrets secrets = ReplySecrets.of(List.of(SECRET), true);
        try (TestMachine machine = TestMachine.signing(stateDir, secrets)) {
            machine.send(TestMachine.message("m1"));

            // when
            machine.answer("m1");
            List<String> refused = machine.deadLetters();
            machine.send(secrets.signed(machine.answerTo("m1")));

            // then
            assertThat(refused).containsExactly(REFUSED);
            assertThat(machine.journal()).extracting(Event::type).contains(KnownEventType.TASK_COMPLETED);
        }
    }

    @Test
    @DisplayName("the machine believes itself: a child is started and answers, and nobody else does either")
    void shouldBelieveTheMachineItself() {
        ReplySecrets secrets = ReplySecrets.of(List.of(SECRET), true);
        try (TestMachine machine = TestMachine.signing(stateDir, secrets)) {
            machine.send(TestMachine.message("boss"));
            machine.callTool("boss", "spawn_task", Map.of("input", "look", "type", "explore"));
            Event start = machine.sent(Segment.EXTERNAL).getLast();
            machine.send(secrets.signed(machine.answerTo(start.id())));
            Event answer = machine.sent(Segment.TOOL).getLast();
            assertThat(machine.deadLetters()).isEmpty();
            assertThat(machine.called()).containsExactly("boss", start.id(), "boss");

            // when: somebody else starts or answers as the machine did
            machine.send(start.with(Extensions.REPLY_TOKEN, null));
            machine.send(answer.with(Extensions.REPLY_TOKEN, null));

            // then
            assertThat(machine.deadLetters()).containsExactly(REFUSED, REFUSED);
        }
    }

    @Test
    @DisplayName("whoever pretends to start a child without its token says nothing to the parent")
    void shouldTellNoParentOfAFalseChild() {
        ReplySecrets secrets = ReplySecrets.of(List.of(SECRET), true);
        try (TestMachine machine = TestMachine.signing(stateDir, secrets)) {
            machine.send(TestMachine.message(Children.idOf("boss/1/1"))
                    .payload(Map.of("text", "go", "parent", Map.of("taskId", "boss", "callId", "boss/1/1"))));

            assertThat(machine.deadLetters()).containsExactly(REFUSED);
            assertThat(machine.sent(Segment.TOOL)).isEmpty();
        }
    }

    @Test
    void shouldRefuseAShortSecret() {
        assertThatThrownBy(() -> ReplySecrets.of(List.of(SECRET, "x".repeat(31)), true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("millrace.agent.reply-secret: expected 32 characters or more, found 31 in one of them");
    }

    /** One in which a task waits for a tool. */
    private TestMachine acting(ReplySecrets secrets, String taskId) {
        TestMachine machine = TestMachine.signing(stateDir, secrets);
        machine.serve(TOOL);
        machine.send(TestMachine.message(taskId));
        machine.callTool(taskId, TOOL);
        return machine;
    }

    private static Event request(TestMachine machine) {
        return machine.requests("tool").getFirst();
    }

    private static String token(Event request) {
        return String.valueOf(request.extension(Extensions.REPLY_TOKEN));
    }

    private static Event.Builder result(Event request, @Nullable String token) {
        return TestMachine.event("r-" + token, KnownEventType.TOOL_CALL_COMPLETED)
                .taskId(request.taskId())
                .extensions(token == null ? Map.of() : Map.of(Extensions.REPLY_TOKEN, token))
                .payload(payload(String.valueOf(request.text("callId"))));
    }

    private static Map<String, Object> payload(String callId) {
        return Map.of("callId", callId, "toolName", TOOL, "result", Map.of("ok", true));
    }
}
