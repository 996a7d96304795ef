package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import dev.millrace.agent.core.Children;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("what breaks costs its own record or task, and the next one is taken")
class BrokenTurnTopologyTest {

    private static final String LANE = TestMachine.TOPICS.lane(Segment.EXTERNAL);

    @TempDir
    Path stateDir;

    private TestMachine machine;

    @BeforeEach
    void start() {
        machine = new TestMachine(stateDir, new AdmissionSettings(10, AdmissionSettings.Policy.QUEUE));
    }

    @AfterEach
    void stop() {
        machine.close();
    }

    @Test
    @DisplayName("a reply that breaks the machine fails its call at once, is put aside, and what it used is counted")
    void shouldFailTheCallOfAReplyThatBreaks() {
        // given
        machine.send(message("m1"));
        machine.send(message("m2"));
        machine.journal();

        // when
        machine.callTool("m1", TestMachine.DEFECT);

        // then
        assertThat(machine.deadLetters()).containsExactly("internal_error");
        List<Event> journal = machine.journal();
        assertThat(journal)
                .extracting(event -> event.type().wireName(), Event::taskId, event -> event.text("code"))
                .contains(
                        tuple("MODEL_CALL_FAILED", "m1", "internal_error"),
                        tuple("TASK_FAILED", "m1", "internal_error"));
        assertThat(journal.getFirst().fields()).containsKey("usage");

        // when
        machine.answer("m2");

        // then
        assertThat(machine.journal()).extracting(Event::type).contains(KnownEventType.TASK_COMPLETED);
    }

    @Test
    @DisplayName("a record that breaks after all was written leaves no row, fact or model call, and may come again")
    void shouldLeaveNothingOfARecordThatBreaks() {
        // given
        machine.send(message("before"));
        machine.journal();
        machine.breakAccepting(true);

        // when
        machine.send(message("m1"));
        machine.send(message("before")); // refused as a duplicate before it gets there

        // then
        assertThat(machine.deadLetters()).containsExactly("internal_error");
        assertThat(machine.journal()).isEmpty();
        assertThat(machine.called()).containsExactly("before");
        assertThat(machine.rows(TaskStores.TASKS).get("m1")).isNull();

        // when
        machine.breakAccepting(false);
        machine.send(message("m1"));
        machine.answer("before");
        machine.answer("m1");

        // then
        assertThat(machine.called()).containsExactly("before", "m1");
        assertThat(machine.journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_COMPLETED)
                .extracting(Event::taskId)
                .containsExactly("before", "m1");
    }

    @Test
    @DisplayName("a start of a child that breaks the machine is put aside, and the parent is told at once, in front and"
            + " behind; nobody else's is told of")
    void shouldTellTheParentOfAStartThatBreaks() {
        // given
        machine.breakAccepting(true);

        // when
        machine.send(startOf("boss/1/1", false));
        machine.send(startOf("boss/1/2", true));
        machine.send(message("own"));

        // then
        assertThat(machine.deadLetters())
                .as("there is no boss, to whom the driver brings the answers")
                .containsExactly("internal_error", "internal_error", "unknown_task", "internal_error");
        assertThat(machine.sent(Segment.TOOL)).singleElement().satisfies(answer -> {
            assertThat(answer.taskId()).isEqualTo("boss");
            assertThat(answer.text("callId")).isEqualTo("boss/1/1");
            assertThat(answer.text("code")).isEqualTo("sub_task_failed");
            assertThat(answer.text("error")).contains("was not started");
        });
        assertThat(machine.sent(Segment.EXTERNAL)).singleElement().satisfies(answer -> {
            assertThat(answer.text("callId")).isEqualTo("boss/1/2");
            assertThat(answer.text("error")).contains("was not started");
        });
    }

    private static Event.Builder startOf(String callId, boolean background) {
        Map<String, Object> parent = Map.of("taskId", "boss", "callId", callId, "background", background);
        return message(Children.idOf(callId)).payload(Map.of("text", "go", "parent", parent));
    }

    @Test
    @DisplayName("who stood in line before a record broke stands there still")
    void shouldKeepTheLine() {
        // given
        machine.close();
        machine = new TestMachine(stateDir.resolve("line"), new AdmissionSettings(1, AdmissionSettings.Policy.QUEUE));
        machine.send(message("m1"));
        machine.send(message("m2"));
        machine.send(message("m3"));

        // when
        machine.breakAccepting(true);
        machine.send(message("m4"));
        machine.breakAccepting(false);
        machine.answer("m1");
        machine.answer("m2");

        // then
        assertThat(machine.called()).containsExactly("m1", "m2", "m3");
        assertThat(machine.deadLetters()).containsExactly("internal_error");
    }

    @Test
    @DisplayName("what concerns every partition is sent to all of them, also if it has to be taken a second time")
    void shouldSendABroadcastThatIsTakenTwice() {
        // given: two partitions, and a turn that breaks once after all was written
        machine.close();
        machine =
                new TestMachine(stateDir.resolve("two"), new AdmissionSettings(10, AdmissionSettings.Policy.QUEUE), 2);
        machine.breakAcceptingOnce();

        // when
        machine.send(TestMachine.event("drain", KnownEventType.SYSTEM_SHUTTING_DOWN));

        // then
        assertThat(machine.deadLetters()).isEmpty();
        assertThat(machine.output(TestMachine.TOPICS.lane(Segment.SYSTEM)).readRecordsToList())
                .isNotEmpty();
    }

    @Test
    @DisplayName("a value that unpacked is larger than the dead letters take is told of without it")
    void shouldPutAHugeValueAsideWithoutIt() {
        // when
        machine.sendRaw(
                LANE, "k".getBytes(StandardCharsets.UTF_8), new byte[Topics.MAX_COPY_BYTES + 1], headers("big"));
        machine.send(message("m1"));

        // then
        List<TestRecord<byte[], byte[]>> letters = machine.deadLetterRecords();
        assertThat(letters).singleElement().satisfies(letter -> {
            assertThat(letter.value()).isNull();
            assertThat(text(letter, DeadLetters.REASON)).isEqualTo("record_too_large");
            assertThat(text(letter, DeadLetters.ORIGIN_TOPIC)).isEqualTo(LANE);
            assertThat(text(letter, DeadLetters.ORIGIN_OFFSET)).isEqualTo("0");
        });
        assertThat(machine.called()).containsExactly("m1");
    }

    @Test
    @DisplayName("so are headers and keys")
    void shouldPutHugeHeadersAndKeysAside() {
        // when
        byte[] huge = new byte[Topics.MAX_COPY_BYTES];
        machine.sendRaw(LANE, null, new byte[] {'{', '}'}, headers("h").add("huge", huge));
        machine.sendRaw(LANE, huge, new byte[] {'{'}, headers("k"));
        machine.send(message("m1"));

        // then
        assertThat(machine.deadLetterRecords()).hasSize(2).allSatisfy(letter -> {
            assertThat(letter.key()).isNull();
            assertThat(letter.headers().lastHeader("huge")).isNull();
        });
        assertThat(machine.called()).containsExactly("m1");
    }

    private static Headers headers(String id) {
        return new RecordHeaders()
                .add("ce_id", id.getBytes(StandardCharsets.UTF_8))
                .add("ce_type", "MESSAGE_RECEIVED".getBytes(StandardCharsets.UTF_8));
    }

    private static String text(TestRecord<byte[], byte[]> letter, String header) {
        return new String(letter.headers().lastHeader(header).value(), StandardCharsets.UTF_8);
    }
}
