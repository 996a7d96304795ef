package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.event;
import static dev.millrace.agent.topology.TestMachine.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.ServedTools;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.topology.TaskForks.ImpossibleForkException;
import dev.millrace.agent.topology.TaskReplay.Played;
import dev.millrace.api.Fork;
import dev.millrace.api.Replay;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the topology has written is played again: with other tools than there were, and without a model. */
class TaskReplayTest {

    private TestMachine machine;
    private final List<Event> log = new ArrayList<>();

    @BeforeEach
    @SuppressWarnings("NullAway") // a field of a test
    void start(@TempDir Path stateDir) {
        machine = new TestMachine(stateDir, new AdmissionSettings(10, AdmissionSettings.Policy.QUEUE));
        machine.serve("write");
    }

    @AfterEach
    void stop() {
        machine.close();
    }

    /** A question, two tool calls of which one fails, one that nobody serves, an end, and a second round. */
    private Played longStory() {
        machine.send(message("m1").sessionId("s1"));
        machine.callTool("m1", "write");
        result(KnownEventType.TOOL_CALL_COMPLETED, Map.of("result", Map.of("lines", 3)));
        machine.callTool("m1", "nothing_of_that_name");
        machine.ask("m1", "Which one?");
        machine.send(message("a1").sessionId("s1").payload(Map.of("text", "the second")));
        machine.callTool("m1", "write");
        result(KnownEventType.TOOL_CALL_FAILED, Map.of("error", "the disk is full", "code", "execution_error"));
        machine.answer("m1");
        machine.driver.advanceWallClockTime(Duration.ofMinutes(1));
        machine.send(event("r1", KnownEventType.TASK_RESUMED)
                .taskId("m1")
                .sessionId("s1")
                .payload(Map.of("newInput", "and now?")));
        machine.answer("m1");
        return play("m1");
    }

    @Test
    void shouldDecideWhatTheLogSays() {
        // when
        Played played = longStory();

        // then: with no tool served, and no model that could be called
        assertThat(played.steps())
                .allSatisfy(step -> assertThat(step.decided())
                        .allSatisfy(decision -> assertThat(decision.outcome())
                                .as("%s", decision)
                                .isEqualTo("same")));
        assertThat(played.equal()).isTrue();
        assertThat(recorded(played)).isEqualTo(log.size());
        assertThat(played.steps().getFirst().fromState()).isEqualTo("absent");
        assertThat(played.steps().getLast().toState()).isEqualTo("completed");
        assertThat(played.steps())
                .extracting(step -> step.cause().kind())
                .contains("event", "admission")
                .doesNotContain("noted");
        assertThat(played.transcript()).isEqualTo(machine.transcript("m1"));
    }

    /** Every event of the log is in the replay once: as what happened, or as what was decided. */
    private static long recorded(Played played) {
        return played.steps().stream()
                .mapToLong(step -> (step.cause().cursor() == null ? 0 : 1)
                        + step.decided().stream()
                                .filter(decision -> !decision.outcome().equals("not_recorded"))
                                .count())
                .sum();
    }

    @Test
    void shouldPlayWhatHappensBecauseTimePasses() {
        // given
        machine.send(message("m1"));
        machine.callTool("m1", "write");
        machine.driver.advanceWallClockTime(Duration.ofHours(2));

        // when
        Played played = play("m1");

        // then
        assertThat(played.equal()).isTrue();
        assertThat(played.steps()).extracting(step -> step.cause().kind()).contains("time");
    }

    @Test
    void shouldSayWhereTheLogDiffers() {
        // given: a log that says of the end what the machine does not decide
        longStory();
        List<Event> other = log.stream()
                .map(told -> told.payload() instanceof Payload.TaskCompleted
                        ? told.toBuilder()
                                .payload(Map.of(
                                        "result",
                                        Map.of("taskId", "m1", "input", "x", "response", "changed", "iterations", 1)))
                                .build()
                        : told)
                .toList();

        // when
        Played played = replay().play("m1", entries(other)).orElseThrow();

        // then
        assertThat(played.equal()).isFalse();
        assertThat(played.steps())
                .flatExtracting(Replay.Step::decided)
                .filteredOn(decision -> decision.outcome().equals("differs"))
                .isNotEmpty()
                .allSatisfy(decision -> assertThat(decision.differences()).containsKey("result"));
    }

    @Test
    void shouldSayWhatIsMissing() {
        // given: a log without a request to the model
        longStory();
        List<Event> other = new ArrayList<>(log);
        other.removeIf(told -> told.type() == KnownEventType.TOOL_CALL_REQUESTED);

        // when
        Played played = replay().play("m1", entries(other)).orElseThrow();

        // then
        assertThat(played.equal()).isFalse();
        assertThat(played.steps())
                .flatExtracting(Replay.Step::decided)
                .extracting(Replay.Decision::outcome)
                .contains("not_recorded");
    }

    @Test
    void shouldNotPlayWithoutTheBeginning() {
        // given
        longStory();

        // then
        assertThat(replay().play("m1", entries(log.subList(1, log.size())))).isEmpty();
    }

    @Test
    void shouldForkWithAnotherResult() throws ImpossibleForkException {
        // given
        Played origin = longStory();
        String result = id(KnownEventType.TOOL_CALL_COMPLETED);

        // when
        Event fork = fork(origin, new Fork(result, null, null, null, Map.of("lines", 4), null, null), "f1");
        machine.send(fork);

        // then: the model is asked with what the origin's model was shown, and the other result
        List<TranscriptEntry> before = machine.transcript("m1");
        assertThat(EventSchemas.problems(fork)).isEmpty();
        assertThat(machine.transcript("f1"))
                .containsExactly(
                        before.get(0),
                        before.get(1),
                        new TranscriptEntry.ToolResult("p1", "write", "{\"lines\":4}", false));
        assertThat(machine.called()).endsWith("f1");
        machine.answer("f1");
        assertThat(play("f1").steps().getLast().toState()).isEqualTo("completed");
        assertThat(play("f1").equal()).isTrue();
    }

    @Test
    void shouldForkWithAnotherTextAgentAndModel() throws ImpossibleForkException {
        // given
        Played origin = longStory();

        // when: from the reply that asked for the second tool
        Payload.MessageReceived start = TaskForks.of(
                origin,
                "m1",
                new Fork("r1", "and then?", "explore", "other", null, null, null),
                List.of(new TranscriptEntry.UserText("long ago")));

        // then
        assertThat(start.text()).isEqualTo("and then?");
        assertThat(start.taskType()).isEqualTo("explore");
        assertThat(start.model()).isEqualTo("other");
        Payload.Fork fork = Objects.requireNonNull(start.fork());
        assertThat(fork.before())
                .first()
                .extracting(Payload.TranscriptMessage::text)
                .isEqualTo("long ago");
        assertThat(fork.before()).hasSize(machine.transcript("m1").size() - 1);
        assertThat(fork.after()).isEmpty();
    }

    @Test
    void shouldForkFromTheCallBeforeAnEventThatBringsNothing() throws ImpossibleForkException {
        // given
        Played origin = longStory();

        // when
        Payload.MessageReceived start = TaskForks.of(
                origin, "m1", new Fork(id(KnownEventType.REASON_DONE), null, null, null, null, null, null), List.of());

        // then
        Payload.Fork fork = Objects.requireNonNull(start.fork());
        assertThat(fork.before()).isEmpty();
        assertThat(fork.after()).isEmpty();
    }

    @Test
    void shouldRefuseWhatCannotBeForked() {
        // given
        Played origin = longStory();
        String start = id(KnownEventType.MESSAGE_RECEIVED);

        // then
        assertThatThrownBy(() -> fork(origin, new Fork("nobody", null, null, null, null, null, null), "f"))
                .isInstanceOfSatisfying(
                        ImpossibleForkException.class, e -> assertThat(e.code()).isEqualTo("unknown_event"));
        assertThatThrownBy(() -> fork(origin, new Fork(start, null, null, null, "x", null, null), "f"))
                .isInstanceOfSatisfying(
                        ImpossibleForkException.class, e -> assertThat(e.code()).isEqualTo("not_a_result"));
    }

    private static Event fork(Played origin, Fork wanted, String id) throws ImpossibleForkException {
        return Event.root(id, KnownEventType.MESSAGE_RECEIVED, Instant.parse("2026-11-21T12:00:00Z"))
                .source("user")
                .payload(TaskForks.of(origin, "m1", wanted, List.of()))
                .build();
    }

    private String id(KnownEventType type) {
        return log.stream()
                .filter(told -> told.type() == type && "m1".equals(told.taskId()))
                .findFirst()
                .orElseThrow()
                .id();
    }

    private Played play(String taskId) {
        log.addAll(machine.journal());
        return replay().play(
                        taskId,
                        entries(log.stream()
                                .filter(told -> taskId.equals(told.taskId()))
                                .toList()))
                .orElseThrow();
    }

    private static TaskReplay replay() {
        return new TaskReplay(
                MachineLimits.DEFAULT,
                new ToolRouting(
                        BuiltInAgents.agents(), new ServedTools(toolset -> true), new Approvals(Duration.ofHours(1))),
                BuiltInAgents.agents());
    }

    private static List<JournalEntry> entries(List<Event> events) {
        List<JournalEntry> entries = new ArrayList<>();
        events.forEach(told -> entries.add(new JournalEntry(new JournalCursor(0, entries.size()), told)));
        return entries;
    }

    private void result(KnownEventType type, Map<String, Object> outcome) {
        log.addAll(machine.journal());
        Event request = log.stream()
                .filter(told -> told.type() == KnownEventType.TOOL_CALL_REQUESTED)
                .reduce((one, other) -> other)
                .orElseThrow();
        Map<String, Object> payload = new TreeMap<>(outcome);
        payload.put("callId", String.valueOf(request.text("callId")));
        payload.put("toolName", "write");
        machine.send(request.derive(type, 0, TestMachine.START)
                .source("tools.executor")
                .payload(payload)
                .build());
    }
}
