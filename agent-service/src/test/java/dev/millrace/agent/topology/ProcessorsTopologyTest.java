package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.START;
import static dev.millrace.agent.topology.TestMachine.event;
import static dev.millrace.agent.topology.TestMachine.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.Children;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.ToolDefinition.Processes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What processors make of events before anything else is done with them, in one transaction with each answer. */
class ProcessorsTopologyTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    @TempDir
    private Path folder;

    private TestMachine machine;

    @SuppressWarnings("NullAway.Init") // JUnit calls open before anything else
    ProcessorsTopologyTest() {}

    @BeforeEach
    void open() {
        machine = new TestMachine(folder, new AdmissionSettings(50, AdmissionSettings.Policy.QUEUE));
    }

    @AfterEach
    void close() {
        machine.close();
    }

    @Test
    @DisplayName("F-277, F-280: an event waits for its processor, and goes on when that produces nothing")
    void shouldLetAnEventOn() {
        // given
        processor("gate", true, "NEW_MESSAGE");

        // when
        machine.send(message("t").sessionId("s"));
        List<Event> before = machine.journal();
        Event asked = asked();
        machine.send(produces(asked));
        List<Event> after = machine.journal();

        // then
        assertThat(before).isEmpty();
        assertThat(asked.taskId()).isEqualTo("t");
        assertThat(asked.parentEventId()).isEqualTo("t");
        assertThat(((Payload.ToolCallRequested) asked.payload()).params().get("event"))
                .asInstanceOf(InstanceOfAssertFactories.MAP)
                .containsEntry("id", "t")
                .containsEntry("type", "MESSAGE_RECEIVED");
        assertThat(after.getFirst().id()).isEqualTo("t");
        assertThat(machine.called()).containsExactly("t");
        assertThat(machine.processed()).containsExactly("gate passed");
        assertThat(machine.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName("F-263, F-279, F-281: what a processor produces takes the place of the event, whose task"
            + " ends overwritten")
    void shouldReplaceAnEvent() {
        // given
        processor("gate", true, "MESSAGE_RECEIVED");
        machine.send(message("t").sessionId("s").priority(120));

        // when
        machine.send(produces(asked(), said("This message requires approval.")));

        // then: the task of the original has ended, and nobody worked on it
        List<Event> journal = machine.journal();
        Event ended = only(journal, KnownEventType.TASK_CANCELLED);
        assertThat(ended.taskId()).isEqualTo("t");
        assertThat(ended.text("reason")).isEqualTo("overwritten by processor gate");
        // and what was produced is an event like any other, caused by the original and as urgent
        Event produced = journal.stream()
                .filter(event -> event.type() == KnownEventType.MESSAGE_RECEIVED)
                .filter(event -> !event.id().equals("t"))
                .findFirst()
                .orElseThrow();
        assertThat(produced.parentEventId()).isEqualTo("t");
        assertThat(produced.correlationId()).isEqualTo("t");
        assertThat(produced.source()).isEqualTo("processor/gate");
        assertThat(produced.sessionId()).isEqualTo("s");
        assertThat(produced.effectivePriority()).isEqualTo(120);
        assertThat(produced.causalDepth()).isEqualTo(1);
        assertThat(machine.called()).containsExactly(produced.id());
    }

    @Test
    @DisplayName("a parent is told of a child whose start is one event too many to be held")
    void shouldTellTheParentOfOneTooMany() {
        // given: as many as there may be, which are read again after something broke
        for (int i = 0; i < Processing.MAX_HELD; i++) {
            Event held = message("h" + i).build();
            Processing.Place place = new Processing.Place(TestMachine.TOPICS.lane(held.lane()), 0, 0);
            machine.rows(TaskStores.PROCESSING)
                    .put(
                            String.format("%016x", i),
                            new Processing.Row(held, 0, place, true, List.of(), List.of(), null));
        }
        machine.breakAcceptingOnce();
        machine.send(message("t"));
        processor("gate", true, "MESSAGE_RECEIVED");

        // when
        machine.send(startOf("boss/1/1"));

        // then
        assertThat(machine.deadLetters()).containsExactly("too_many_held");
        assertThat(machine.sent(Segment.TOOL)).singleElement().satisfies(answer -> {
            assertThat(answer.taskId()).isEqualTo("boss");
            assertThat(answer.text("callId")).isEqualTo("boss/1/1");
            assertThat(answer.text("error")).contains("was not started", "wait for processors");
        });
    }

    @Test
    @DisplayName("a parent is told of a child whose start was held and breaks the machine when it goes on")
    void shouldTellTheParentOfAHeldStartThatBreaks() {
        // given
        processor("gate", false, "MESSAGE_RECEIVED");
        machine.send(startOf("boss/1/1"));

        // when
        machine.breakAccepting(true);
        machine.driver.advanceWallClockTime(TIMEOUT.plusSeconds(2));

        // then
        assertThat(machine.deadLetters()).containsExactly("internal_error");
        assertThat(machine.sent(Segment.TOOL)).singleElement().satisfies(answer -> {
            assertThat(answer.text("callId")).isEqualTo("boss/1/1");
            assertThat(answer.text("error")).contains("was not started");
        });
    }

    private static Event.Builder startOf(String callId) {
        return message(Children.idOf(callId))
                .payload(Map.of("text", "go", "parent", Map.of("taskId", "boss", "callId", callId)));
    }

    @Test
    @DisplayName("F-282: an event that was replaced is marked in the journal, so that nobody is shown it")
    void shouldMarkWhatWasReplaced() {
        // given
        processor("gate", true, "MESSAGE_RECEIVED", "order.placed");
        machine.send(message("t").sessionId("s"));
        machine.send(produces(asked(), said("no")));
        List<String> message = machine.outcomes();

        // when
        machine.send(event("o", EventType.of("order.placed"))
                .source("shop")
                .sessionId("s")
                .payload(Map.of()));
        machine.send(produces(asked(), Map.of("type", "order.refused", "payload", Map.of("why", "closed"))));

        // then
        assertThat(message.getFirst()).isEqualTo("overwritten");
        assertThat(message.stream().skip(1)).containsOnly("");
        assertThat(machine.outcomes()).containsExactly("overwritten", "");
    }

    @Test
    @DisplayName("F-278: those for all types are asked first, then by order and name; what is built in comes last")
    void shouldAskInOrder() {
        // given
        define("z-any", new Processes(List.of("*"), 9, false));
        define("b", new Processes(List.of("MESSAGE_RECEIVED"), 1, false));
        define("a", new Processes(List.of("MESSAGE_RECEIVED"), 1, false));
        define("c", new Processes(List.of("MESSAGE_RECEIVED"), 0, false));
        machine.send(message("t"));

        // when
        for (int i = 0; i < 4; i++) {
            assertThat(machine.called()).isEmpty();
            machine.send(produces(asked()));
        }

        // then
        assertThat(machine.processed()).containsExactly("z-any passed", "c passed", "a passed", "b passed");
        assertThat(machine.called()).containsExactly("t");
    }

    @Test
    @DisplayName("F-281: the first that produces something wins, and is not asked about what it has produced")
    void shouldStopAtTheFirstThatProduces() {
        // given
        define("first", new Processes(List.of("MESSAGE_RECEIVED"), 1, false));
        define("second", new Processes(List.of("MESSAGE_RECEIVED"), 2, false));
        machine.send(message("t"));

        // when
        machine.send(produces(asked(), said("changed")));
        Event next = asked();
        machine.send(produces(next));

        // then: the second is asked about the new event only
        assertThat(next.parentEventId()).isNotEqualTo("t");
        assertThat(((Payload.ToolCallRequested) next.payload()).toolName()).isEqualTo("second");
        assertThat(machine.processed()).containsExactly("first overwritten", "second passed");
        assertThat(next.sessionId()).as("where the original has none").isEqualTo("t");
        assertThat(machine.called()).hasSize(1).doesNotContain("t");
    }

    @Test
    @DisplayName("F-281, X-37: the failure of a processor is told, and the next one and what is built in follow")
    void shouldPassOverAFailure() {
        // given
        processor("odd", false, "MESSAGE_RECEIVED");
        machine.send(message("t").sessionId("s"));

        // when
        machine.send(fails(asked(), "no idea"));

        // then
        Event told = only(machine.journal(), EventType.of("processor.failed"));
        assertThat(told.fields())
                .containsEntry("processor", "odd")
                .containsEntry("eventId", "t")
                .containsEntry("error", "no idea");
        assertThat(machine.called()).containsExactly("t");
    }

    @Test
    @DisplayName("F-281, X-37: an event goes no further without a processor that it needs, however that fails")
    void shouldStopWithoutAGate() {
        // given
        processor("gate", true, "MESSAGE_RECEIVED");

        // when: one throws, one says what is no answer, one produces what is no event
        machine.send(message("t1"));
        machine.send(fails(asked(), "broken"));
        machine.send(message("t2"));
        machine.send(answers(asked(), "yes"));
        machine.send(message("t3"));
        machine.send(produces(asked(), Map.of("type", "TASK_CANCEL_REQUESTED", "payload", Map.of())));

        // then
        List<Event> failed = all(machine.journal(), KnownEventType.TASK_FAILED);
        assertThat(failed).extracting(Event::taskId).containsExactly("t1", "t2", "t3");
        assertThat(failed).extracting(event -> event.text("code")).containsOnly(ErrorCode.PROCESSOR_FAILED.code());
        assertThat(failed.getFirst().text("error")).isEqualTo("processor gate: broken");
        assertThat(failed.getLast().text("error")).contains("producedEvents[0]: type: expected");
        assertThat(machine.called()).isEmpty();
    }

    @Test
    @DisplayName("a gate that is silent fails closed when its time is over")
    void shouldFailClosedWhenSilent() {
        // given
        processor("gate", true, "MESSAGE_RECEIVED");
        machine.send(message("t"));
        Event asked = asked();
        machine.driver.advanceWallClockTime(TIMEOUT);
        List<Event> before = machine.journal();

        // when
        machine.driver.advanceWallClockTime(Duration.ofMillis(Processing.GRACE_MS + 500));
        List<Event> after = machine.journal();
        machine.send(produces(asked));

        // then: it is too late afterwards
        assertThat(before).isEmpty();
        assertThat(only(after, KnownEventType.TASK_FAILED).text("error"))
                .isEqualTo("processor gate: it has not answered in time");
        assertThat(machine.journal()).isEmpty();
        assertThat(machine.deadLetters()).isEmpty();
        assertThat(machine.called()).isEmpty();
    }

    @Test
    @DisplayName("F-281: so it does if another instance has the partition by then; an answer that comes there counts")
    void shouldFailClosedOverARestart(@TempDir Path elsewhere) {
        // given
        processor("gate", true, "MESSAGE_RECEIVED");
        machine.send(message("silent"));
        machine.send(message("answered"));
        Event asked = asked();
        Map<String, ToolDefinition> tools = machine.tools;

        try (TestMachine next = new TestMachine(elsewhere, new AdmissionSettings(50, AdmissionSettings.Policy.QUEUE))) {
            next.tools.putAll(tools);
            next.inherit(machine, TaskStores.PROCESSING);
            // what is known of rows in memory is read anew after something was undone
            next.breakAcceptingOnce();
            next.send(event("w", KnownEventType.WEBHOOK_TRIGGERED).source("ci").payload(Map.of("text", "go")));

            // when
            next.send(produces(asked));
            next.driver.advanceWallClockTime(TIMEOUT);
            List<Event> before = next.journal();
            next.driver.advanceWallClockTime(Duration.ofMillis(Processing.GRACE_MS + 5_500));

            // then
            assertThat(all(before, KnownEventType.TASK_FAILED)).isEmpty();
            assertThat(only(next.journal(), KnownEventType.TASK_FAILED)).satisfies(failed -> {
                assertThat(failed.taskId()).isEqualTo("silent");
                assertThat(failed.text("error")).isEqualTo("processor gate: it has not answered in time");
            });
            assertThat(next.called()).containsExactly("w", "answered");
        }
    }

    @Test
    @DisplayName("what is said in a session is taken in its order, whoever is asked about it meanwhile")
    void shouldKeepTheOrderOfASession() {
        // given: the second message is of another type, of which nobody is asked
        processor("gate", true, "MESSAGE_RECEIVED");
        machine.send(message("t1").sessionId("s"));
        Event first = asked();
        machine.send(event("t2", KnownEventType.WEBHOOK_TRIGGERED)
                .source("ci")
                .sessionId("s")
                .payload(Map.of("text", "later")));
        machine.send(message("u").sessionId("other"));
        Event other = asked();

        // when
        machine.send(produces(other));
        List<String> others = machine.called();
        machine.send(produces(first));
        machine.answer("t1");

        // then
        assertThat(others).containsExactly("u");
        assertThat(machine.called()).containsExactly("u", "t1", "t2");
    }

    @Test
    @DisplayName("events for a task that waits, and open ones, are stopped with the reason")
    void shouldStopEventsThatStartNothing() {
        // given
        processor("gate", true, "MESSAGE_RECEIVED", "order.placed");
        machine.send(message("t"));
        machine.send(produces(asked()));
        machine.ask("t", "Which one?");
        machine.journal();

        // when
        machine.send(message("answer").taskId("t"));
        machine.send(fails(asked(), "no"));
        machine.send(event("o", EventType.of("order.placed")).source("shop").payload(Map.of()));
        machine.send(fails(asked(), "no"));

        // then
        assertThat(machine.deadLetters()).containsExactly("processor_failed");
        assertThat(machine.outcomes()).containsExactly("", "", "processor_failed");
    }

    @Test
    @DisplayName("an event that is cancelled while it is held does not run afterwards")
    void shouldHeedACancelOfWhatIsHeld() {
        // given
        processor("gate", true, "MESSAGE_RECEIVED");
        machine.send(message("t").sessionId("s"));
        Event asked = asked();

        // when
        machine.send(event("c", KnownEventType.TASK_CANCEL_REQUESTED)
                .source("user")
                .taskId("t")
                .sessionId("s")
                .payload(Map.of("reason", "never mind")));
        machine.send(produces(asked));

        // then
        assertThat(only(machine.journal(), KnownEventType.TASK_CANCELLED).taskId())
                .isEqualTo("t");
        assertThat(machine.called()).isEmpty();
    }

    @Test
    @DisplayName("F-300: a message with skipRouting is kept and shown, and no agent is given it")
    void shouldKeepAMessageThatIsForNobody() {
        // when
        machine.send(message("t")
                .sessionId("s")
                .payload(Map.of("text", "Just so you know.", "metadata", Map.of("skipRouting", true))));

        // then
        assertThat(machine.outcomes()).containsExactly("not_routed");
        assertThat(machine.called()).isEmpty();
        assertThat(machine.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName("an event that is put aside after its processor has let it on may come again, mended, with its id")
    void shouldTakeAMendedEvent() {
        // given
        processor("gate", true, "NEW_MESSAGE");
        machine.send(message("t").payload(Map.of("text", " ")));
        machine.send(produces(asked()));
        List<String> refused = machine.deadLetters();

        // when
        machine.send(message("t"));
        machine.send(produces(asked()));
        machine.send(message("t"));

        // then
        assertThat(refused).containsExactly("no_text");
        assertThat(machine.deadLetters()).isEmpty();
        assertThat(machine.called()).containsExactly("t");
        assertThat(only(machine.journal(), KnownEventType.MESSAGE_RECEIVED).id())
                .isEqualTo("t");
    }

    @Test
    @DisplayName("models are not shown processors, and cannot call them")
    void shouldBeNoTool() {
        // given
        processor("gate", true, "order.placed");
        machine.send(message("t"));

        // when
        machine.callTool("t", "gate");

        // then
        assertThat(only(machine.journal(), KnownEventType.TOOL_CALL_FAILED).text("code"))
                .isEqualTo("tool_not_found");
    }

    private void processor(String name, boolean required, String... types) {
        define(name, new Processes(List.of(types), 0, required));
    }

    private void define(String name, Processes processes) {
        machine.tools.put(
                name,
                new ToolDefinition(
                                name,
                                "d",
                                JsonObject.of(Map.of("type", "object")),
                                "gates",
                                TIMEOUT.toMillis(),
                                ToolDefinition.SideEffects.DESTRUCTIVE)
                        .withProcesses(processes));
    }

    /** The newest request to a processor. */
    private Event asked() {
        return machine.requests("gates").getLast();
    }

    private static Map<String, Object> said(String text) {
        return Map.of("type", "MESSAGE_RECEIVED", "payload", Map.of("text", text));
    }

    private static Event produces(Event asked, Object... events) {
        return answers(asked, Map.of("producedEvents", List.of(events)));
    }

    private static Event answers(Event asked, Object result) {
        return reply(asked, KnownEventType.TOOL_CALL_COMPLETED)
                .payload(Map.of("callId", callId(asked), "toolName", "any", "result", result))
                .build();
    }

    private static Event fails(Event asked, String error) {
        return reply(asked, KnownEventType.TOOL_CALL_FAILED)
                .payload(Map.of("callId", callId(asked), "toolName", "any", "error", error, "code", "execution_error"))
                .build();
    }

    private static Event.Builder reply(Event asked, KnownEventType type) {
        return asked.derive(type, 0, START).source("worker");
    }

    private static String callId(Event asked) {
        return ((Payload.ToolCallRequested) asked.payload()).callId();
    }

    private static Event only(List<Event> journal, EventType type) {
        List<Event> found = all(journal, type);
        assertThat(found).as(type.wireName()).hasSize(1);
        return found.getFirst();
    }

    private static List<Event> all(List<Event> journal, EventType type) {
        return journal.stream()
                .filter(event -> event.type().wireName().equals(type.wireName()))
                .toList();
    }
}
