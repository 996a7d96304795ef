package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.event;
import static dev.millrace.agent.topology.TestMachine.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.topology.AdmissionSettings.Policy;
import dev.millrace.engine.Rehoming;
import dev.millrace.engine.StoreSection;
import dev.millrace.schemas.CustomEventType;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.ToolDefinition;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the tasks of a session know of each other, as the task machine does it. */
class SessionsTopologyTest {

    private static final Duration RETENTION = Duration.ofDays(30);
    private static final Instant AFTER_SWEEP = TestMachine.START.plus(RETENTION).plus(Duration.ofDays(1));
    private static final List<StoreSection<?>> SECTIONS = List.of(
            TaskStores.TASKS,
            TaskStores.TRANSCRIPTS,
            TaskStores.CALLS,
            TaskStores.ADMISSION,
            TaskStores.SESSIONS,
            TaskStores.HISTORY,
            TaskStores.TIMERS,
            TaskStores.ENDED,
            TaskStores.USED_SESSIONS);

    @TempDir
    Path stateDir;

    @TempDir
    Path otherDir;

    private TestMachine machine;

    @BeforeEach
    @SuppressWarnings("NullAway") // fields of a test
    void start() {
        machine = machine(stateDir);
    }

    private static TestMachine machine(Path dir) {
        return new TestMachine(
                dir,
                new AdmissionSettings(10, Policy.QUEUE),
                List.of(new ToolDefinition(
                                "deploy",
                                "d",
                                JsonObject.empty(),
                                "tool",
                                30_000,
                                ToolDefinition.SideEffects.DESTRUCTIVE)
                        .withApproval(new ToolDefinition.Approval.Always())));
    }

    @AfterEach
    void stop() {
        machine.close();
    }

    @Test
    @DisplayName(
            "F-204: the second prompt of a session knows the first, and begins with the same; other sessions do not")
    void shouldKnowWhatWasSaidBefore() {
        // given
        prompt("m1", "ada");
        List<String> first = shown("m1");
        answer("m1", "one");

        // when
        prompt("m2", "ada");
        List<String> second = shown("m2");
        answer("m2", "two");
        prompt("m3", "ada");
        prompt("m4", "bob");
        machine.send(message("m5"));

        // then
        assertThat(first).containsExactly("user: do m1");
        assertThat(second).containsExactly("user: do m1", "assistant: one", "user: do m2");
        assertThat(shown("m3"))
                .containsExactly("user: do m1", "assistant: one", "user: do m2", "assistant: two", "user: do m3");
        assertThat(shown("m4")).containsExactly("user: do m4");
        assertThat(shown("m5")).containsExactly("user: do m5");
        assertThat(count(TaskStores.TRANSCRIPTS)).as("nothing is copied").isEqualTo(7);
    }

    @Test
    @DisplayName("another instance that takes over the rows shows the same")
    void shouldKnowItElsewhere() {
        // given
        prompt("m1", "ada");
        answer("m1", "one");
        prompt("m2", "ada");
        List<String> before = shown("m2");
        OutstandingCall call = call("m2");

        // when
        TestMachine other = machine(otherDir);
        SECTIONS.forEach(section -> other.inherit(machine, section));
        machine.close();
        machine = other;

        // then
        assertThat(texts(call)).isEqualTo(before);
    }

    @Test
    @DisplayName("tasks that overlap are in the order in which they ended or gave way; each is shown what"
            + " stood there when it was admitted, and no call is parted from its result")
    void shouldHaveAnOrder() {
        // given: one that gives way for an approval
        prompt("m1", "ada");
        machine.callTool("m1", "deploy");
        Event asked = last(KnownEventType.APPROVAL_REQUESTED);

        // when
        prompt("m2", "ada");
        List<String> between = shown("m2");
        answer("m2", "meanwhile");
        machine.send(asked.derive(KnownEventType.APPROVAL_DECIDED, 0, TestMachine.START)
                .source("user")
                .payload(Map.of("callId", String.valueOf(asked.text("callId")), "decision", "approve")));
        machine.send(event("t1", KnownEventType.TOOL_CALL_COMPLETED)
                .taskId("m1")
                .sessionId("ada")
                .payload(Map.of(
                        "callId",
                        String.valueOf(asked.text("callId")),
                        "toolName",
                        "deploy",
                        "result",
                        "deployed",
                        "durationMs",
                        1)));
        List<String> afterwards = shown("m1");
        answer("m1", "is out");
        prompt("m3", "ada");

        // then
        assertThat(between)
                .as("what nobody has answered is not the next one's to answer")
                .containsExactly("user: do m2");
        assertThat(afterwards)
                .as("its own, as if nobody had spoken between")
                .containsExactly("user: do m1", "assistant calls deploy", "result of deploy");
        assertThat(shown("m3"))
                .containsExactly(
                        "user: do m2",
                        "assistant: meanwhile",
                        "user: do m1",
                        "assistant calls deploy",
                        "result of deploy",
                        "assistant: is out",
                        "user: do m3");
    }

    @Test
    @DisplayName("a summary that one task makes serves the next, and what follows is bounded")
    void shouldShareASummary() {
        shareASummary();
    }

    private void shareASummary() {
        // given: so much that the model is nearly full
        for (int i = 1; i <= 4; i++) {
            prompt("m" + i, "ada");
            answer("m" + i, "answer " + i + " " + "x".repeat(900), 3, 1_000);
        }

        // when: the next one has to make room before it begins
        prompt("m5", "ada");
        OutstandingCall summary = call("m5");
        List<String> summedUp = texts(summary);
        machine.send(summary.reply(KnownEventType.CONTEXT_COMPACTED, TestMachine.START)
                .payload(Map.of(
                        "callId",
                        summary.callId(),
                        "summary",
                        "the four of them",
                        "usage",
                        Map.of("inputTokens", 1_000, "outputTokens", 10))));
        List<String> fifth = shown("m5");
        answer("m5", "five", 300, 1_000);
        prompt("m6", "ada");

        // then
        assertThat(summary.shown().toSumUp()).isTrue();
        assertThat(summedUp.getFirst()).isEqualTo("user: do m1");
        assertThat(fifth.getFirst()).isEqualTo("summary: the four of them");
        assertThat(fifth.getLast()).isEqualTo("user: do m5");
        assertThat(fifth).doesNotContain("user: do m1");
        List<String> sixth = new ArrayList<>(fifth);
        sixth.addAll(List.of("assistant: five", "user: do m6"));
        assertThat(shown("m6")).isEqualTo(sixth);
    }

    @Test
    @DisplayName("what a session refers to outlives the sweep of ended tasks, and goes with the session")
    void shouldOutliveTheSweep() {
        // given
        prompt("m1", "ada");
        answer("m1", "one");
        machine.driver.advanceWallClockTime(RETENTION.minusDays(1));
        prompt("m2", "ada");
        answer("m2", "two");

        // when: the first task's row goes
        machine.driver.advanceWallClockTime(Duration.ofDays(2));
        settle();

        // then
        assertThat(machine.rows(TaskStores.TASKS).get("m1")).isNull();
        prompt("m3", "ada");
        assertThat(shown("m3"))
                .containsExactly("user: do m1", "assistant: one", "user: do m2", "assistant: two", "user: do m3");
        answer("m3", "three");

        // when: the session does
        machine.driver.advanceWallClockTime(RETENTION.plusDays(1));
        settle();

        // then
        assertThat(count(TaskStores.TASKS)).isZero();
        assertThat(count(TaskStores.TRANSCRIPTS)).isZero();
        assertThat(count(TaskStores.HISTORY)).isZero();
        assertThat(count(TaskStores.SESSIONS)).isZero();
    }

    @Test
    @DisplayName("forgetting a task leaves a hole in its session and nothing else is lost; the task that"
            + " is under way goes on")
    void shouldShowAHole() {
        // given
        prompt("m1", "ada");
        answer("m1", "one");
        prompt("m2", "ada");
        answer("m2", "two");
        prompt("m3", "ada");

        // when
        machine.send(event("f1", KnownEventType.FORGET_REQUESTED)
                .taskId("m1")
                .sessionId("ada")
                .source("user")
                .payload(Map.of("scope", "task", "taskId", "m1")));

        // then
        assertThat(shown("m3"))
                .containsExactly("user: " + StreamsTranscripts.HOLE, "user: do m2", "assistant: two", "user: do m3");
        answer("m3", "three");
        prompt("m4", "ada");
        assertThat(shown("m4")).hasSize(6).doesNotContain("user: do m1").contains("user: do m3");
        assertThat(row("ada").usage().total()).as("what it has used").isEqualTo(15);
    }

    @Test
    @DisplayName("with a task every summary goes that may tell of it")
    void shouldForgetSummaries() {
        // given
        shareASummary();

        // when
        machine.send(event("f1", KnownEventType.FORGET_REQUESTED)
                .taskId("m2")
                .sessionId("ada")
                .source("user")
                .payload(Map.of("scope", "task", "taskId", "m2")));

        // then
        assertThat(row("ada").history())
                .satisfies(history ->
                        assertThat(history).extracting("from", "summary").containsExactly(0, null));
        assertThat(transcripts()).doesNotContain("summary: the four of them");
    }

    @Test
    @DisplayName("a task whose row is gone is forgotten like any other, also if nobody knows its session any more:"
            + " its transcript goes, and leaves a hole")
    void shouldForgetWhatOutlivedItsRow() {
        // given
        sweepFirst();
        prompt("m3", "ada");
        prompt("m4", "bob");

        // when
        machine.send(
                event("f1", KnownEventType.FORGET_REQUESTED)
                        .taskId("m1")
                        .source("user")
                        .payload(Map.of("scope", "task", "taskId", "m1")),
                AFTER_SWEEP);
        settle();

        // then
        assertThat(shown("m3"))
                .containsExactly("user: " + StreamsTranscripts.HOLE, "user: do m2", "assistant: two", "user: do m3");
        assertThat(transcripts())
                .containsExactlyInAnyOrder("user: do m2", "assistant: two", "user: do m3", "user: do m4");
        assertThat(last(KnownEventType.TASKS_FORGOTTEN).fields())
                .containsEntry("tasks", 1)
                .containsEntry("children", 0);
    }

    @Test
    @DisplayName("of a task whose row is gone every summary is forgotten that may tell of it, where its session is"
            + " known")
    void shouldForgetSummariesOfWhatOutlivedItsRow() {
        // given
        shareASummary();
        answer("m6", "six");
        machine.driver.advanceWallClockTime(RETENTION.minusDays(1));
        prompt("m7", "ada");
        answer("m7", "seven");
        machine.driver.advanceWallClockTime(Duration.ofDays(2));
        settle();
        assertThat(transcripts()).contains("summary: the four of them", "user: do m2");

        // when
        machine.send(
                event("f1", KnownEventType.FORGET_REQUESTED)
                        .taskId("m2")
                        .sessionId("ada")
                        .source("user")
                        .payload(Map.of("scope", "task", "taskId", "m2")),
                AFTER_SWEEP);
        settle();

        // then
        assertThat(row("ada").history())
                .satisfies(history ->
                        assertThat(history).extracting("from", "summary").containsExactly(0, null));
        assertThat(transcripts())
                .doesNotContain("summary: the four of them", "user: do m2")
                .contains("user: do m1", "user: do m3", "assistant: seven");
    }

    @Test
    @DisplayName("what a task told is found among many sessions a bounded number at a time, and how far is in the"
            + " store")
    void shouldLookForItInSlices() {
        // given
        sweepFirst();
        for (int i = 0; i < 2 * Sessions.ROWS_AT_ONCE; i++) {
            machine.rows(TaskStores.HISTORY)
                    .put(
                            TaskStores.historyKey(StoredTask.conversation("default", "aaa" + i), 0),
                            new Sessions.Told("other" + i, 0, 2, false, null));
        }

        // when
        machine.send(
                event("f1", KnownEventType.FORGET_REQUESTED)
                        .taskId("m1")
                        .source("user")
                        .payload(Map.of("scope", "task", "taskId", "m1")),
                AFTER_SWEEP);

        // then
        assertThat(machine.rows(TaskStores.FORGOTTEN).get("f1"))
                .satisfies(row -> assertThat(row.done()).isFalse());
        assertThat(transcripts()).contains("user: do m1");
        settle();
        assertThat(machine.rows(TaskStores.FORGOTTEN).get("f1"))
                .satisfies(row -> assertThat(row.done()).isTrue());
        assertThat(transcripts()).containsExactlyInAnyOrder("user: do m2", "assistant: two");
    }

    @Test
    @DisplayName(
            "what is found on another partition than the one that was asked is forgotten there, and nobody is asked"
                    + " once more")
    void shouldForgetItOnAnotherPartition() {
        // given: two partitions, of which the driver has the first; the session is there, the task's id is not
        machine.close();
        machine = new TestMachine(otherDir, new AdmissionSettings(10, Policy.QUEUE), 2);
        String session = on(0, "session");
        String task = on(1, "task");
        prompt(task, session);
        answer(task, "one");
        machine.driver.advanceWallClockTime(RETENTION.minusDays(1));
        String next = on(1, "next");
        prompt(next, session);
        answer(next, "two");
        machine.driver.advanceWallClockTime(Duration.ofDays(2));
        settle();
        machine.journal();
        machine.sent(Segment.SYSTEM);

        // when
        machine.sendOn(
                event("f1", KnownEventType.FORGET_REQUESTED)
                        .taskId(task)
                        .source("user")
                        .payload(Map.of("scope", "task", "taskId", task))
                        .build(),
                AFTER_SWEEP,
                Outbox.BROADCAST,
                AFTER_SWEEP);
        settle();

        // then
        assertThat(transcripts()).containsExactlyInAnyOrder("user: do " + next, "assistant: two");
        assertThat(machine.journal())
                .extracting(event -> event.type().wireName())
                .as("the request itself is in the journal already")
                .containsExactly("TASKS_FORGOTTEN");
        assertThat(machine.sent(Segment.SYSTEM)).isEmpty();
        assertThat(machine.deadLetters()).isEmpty();
    }

    private static String on(int partition, String prefix) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> prefix + i)
                .filter(id -> Rehoming.home(id, 2) == partition)
                .findFirst()
                .orElseThrow();
    }

    /** The first task of a session of two is gone but for its transcript. */
    private void sweepFirst() {
        prompt("m1", "ada");
        answer("m1", "one");
        machine.driver.advanceWallClockTime(RETENTION.minusDays(1));
        prompt("m2", "ada");
        answer("m2", "two");
        machine.driver.advanceWallClockTime(Duration.ofDays(2));
        settle();
        assertThat(machine.rows(TaskStores.TASKS).get("m1")).isNull();
        assertThat(transcripts()).contains("user: do m1");
    }

    @Test
    @DisplayName("with a session everything goes that it refers to, also what its tasks left behind")
    void shouldForgetItWhole() {
        // given: one whose row is gone, one that has ended, one that works
        prompt("m1", "ada");
        answer("m1", "one");
        machine.driver.advanceWallClockTime(RETENTION.minusDays(1));
        prompt("m2", "ada");
        answer("m2", "two");
        machine.driver.advanceWallClockTime(Duration.ofDays(2));
        settle();
        prompt("m3", "ada");
        prompt("m4", "bob");

        // when
        machine.send(
                event("f1", KnownEventType.FORGET_REQUESTED)
                        .sessionId("ada")
                        .source("user")
                        .payload(Map.of("scope", "session", "sessionId", "ada")),
                AFTER_SWEEP);

        // then
        assertThat(transcripts()).containsExactly("user: do m4");
        assertThat(count(TaskStores.HISTORY)).isZero();
        assertThat(count(TaskStores.SESSIONS)).isEqualTo(1);
        assertThat(machine.rows(TaskStores.TASKS).get("m4")).isNotNull();
    }

    @Test
    @DisplayName("a client that brings its own history has it shown once, and adds only what is new")
    void shouldTakeAClientsOwnHistoryOnce() {
        // given
        prompt("m1", "ada");
        answer("m1", "one");

        // when
        machine.send(event("m2", KnownEventType.MESSAGE_RECEIVED)
                .source("user")
                .sessionId("ada")
                .payload(Map.of(
                        "text",
                        "do m2",
                        "history",
                        List.of(Map.of("role", "user", "text", "do m1"), Map.of("role", "assistant", "text", "one")))));
        List<String> second = shown("m2");
        answer("m2", "two");
        prompt("m3", "ada");

        // then
        assertThat(second).containsExactly("user: do m1", "assistant: one", "user: do m2");
        assertThat(shown("m3"))
                .containsExactly("user: do m1", "assistant: one", "user: do m2", "assistant: two", "user: do m3");
    }

    @Test
    @DisplayName("what was withdrawn before it began was said to nobody; what failed was said")
    void shouldLeaveOutWhatNeverBegan() {
        // given
        prompt("m1", "ada");
        prompt("m2", "ada");

        // when
        cancel("m2");
        cancel("m1");
        prompt("m3", "ada");

        // then
        assertThat(shown("m3")).containsExactly("user: do m1", "user: do m3");
    }

    @Test
    @DisplayName("F-257: an interrupted answer is kept as far as it had come, the next prompt is shown it and what the"
            + " user did; once, also if nobody knows what was said")
    void shouldKeepWhatWasSaidBeforeAnInterruption() {
        // given
        prompt("m1", "ada");
        machine.model.said = "The answer is";

        // when
        interrupt("m1");
        interrupt("m1");
        prompt("m2", "ada");
        List<String> second = shown("m2");
        machine.model.said = null;
        interrupt("m2");
        prompt("m3", "ada");

        // then
        assertThat(second)
                .containsExactly(
                        "user: do m1",
                        "assistant: The answer is\n\n(interrupted)",
                        "user: [Session interrupted by user]",
                        "user: do m2");
        assertThat(shown("m3").subList(3, 7))
                .containsExactly(
                        "user: do m2",
                        "assistant: (interrupted)",
                        "user: [Session interrupted by user]",
                        "user: do m3");
        assertThat(machine.journal().stream()
                        .filter(event -> event.type() == KnownEventType.TASK_CANCELLED)
                        .map(event -> event.text("response")))
                .containsExactly("The answer is\n\n(interrupted)", "(interrupted)");
    }

    @Test
    @DisplayName("F-257: calls that were open when a task was interrupted say so")
    void shouldCloseCallsThatWereInterrupted() {
        // given
        prompt("m1", "ada");
        machine.callTool("m1", "deploy");

        // when
        interrupt("m1");
        prompt("m2", "ada");

        // then
        assertThat(shown("m2"))
                .containsExactly(
                        "user: do m1",
                        "assistant calls deploy",
                        "result of deploy",
                        "assistant: (interrupted)",
                        "user: [Session interrupted by user]",
                        "user: do m2");
    }

    @Test
    @DisplayName("F-210: a session is there once it was made or a task has begun in it")
    void shouldKnowWhichSessionsThereAre() {
        // when
        machine.send(event("c1", new CustomEventType("session.created"))
                .sessionId("ada")
                .source("user")
                .payload(Map.of("title", "Ada's")));
        prompt("m1", "bob");

        // then
        assertThat(row("ada").title()).isEqualTo("Ada's");
        assertThat(row("bob").title()).isNull();
        assertThat(machine.rows(TaskStores.SESSIONS).get(StoredTask.conversation("default", "eve")))
                .isNull();
    }

    @Test
    @DisplayName("the 100th prompt of a session writes no more bytes than the 2nd, within a fifth")
    void shouldWriteNoMoreWithEachPrompt() {
        long[] bytes = new long[101];
        for (int i = 1; i <= 100; i++) {
            String id = String.format("m%03d", i);
            written();
            prompt(id, "ada");
            answer(id, "answer " + id);
            bytes[i] = written();
        }

        assertThat(bytes[100]).isBetween(bytes[2] * 8 / 10, bytes[2] * 12 / 10);
    }

    private void prompt(String id, String session) {
        machine.send(message(id).sessionId(session));
    }

    private void cancel(String id) {
        machine.send(event("cancel-" + id, KnownEventType.TASK_CANCEL_REQUESTED)
                .taskId(id)
                .sessionId("ada")
                .source("user")
                .payload(Map.of()));
    }

    private void interrupt(String id) {
        machine.send(event(Ids.random(), KnownEventType.TASK_CANCEL_REQUESTED)
                .taskId(id)
                .sessionId("ada")
                .source("user")
                .payload(Map.of("interrupt", true)));
    }

    private void answer(String id, String text) {
        answer(id, text, 3, 100_000);
    }

    private void answer(String id, String text, int inputTokens, int contextWindow) {
        Map<String, @Nullable Object> payload =
                new HashMap<>(machine.answerTo(id).fields());
        payload.put("response", text);
        payload.put("usage", Map.of("inputTokens", inputTokens, "outputTokens", 2));
        payload.put("contextWindow", contextWindow);
        machine.send(machine.answerTo(id).toBuilder().payload(payload));
    }

    /** Lets sweeps go on. */
    private void settle() {
        for (int i = 0; i < 5; i++) {
            machine.driver.advanceWallClockTime(Duration.ofMillis(200));
        }
    }

    private OutstandingCall call(String taskId) {
        return machine.model.requested.stream()
                .filter(call -> call.taskId().equals(taskId))
                .reduce((first, second) -> second)
                .orElseThrow();
    }

    private List<String> shown(String taskId) {
        return texts(call(taskId));
    }

    private List<String> texts(OutstandingCall call) {
        return StreamsTranscripts.shown(machine.driver.getKeyValueStore(TaskStores.ROWS), call).orElseThrow().stream()
                .map(SessionsTopologyTest::text)
                .toList();
    }

    private static String text(TranscriptEntry entry) {
        return switch (entry) {
            case TranscriptEntry.UserText said -> "user: " + said.text();
            case TranscriptEntry.Summary summary -> "summary: " + summary.text();
            case TranscriptEntry.AssistantTurn turn ->
                turn.toolCalls().isEmpty()
                        ? "assistant: " + turn.text()
                        : "assistant calls " + turn.toolCalls().getFirst().toolName();
            case TranscriptEntry.ToolResult result -> "result of " + result.toolName();
        };
    }

    private List<String> transcripts() {
        List<String> texts = new ArrayList<>();
        try (KeyValueIterator<String, TranscriptEntry> all =
                machine.rows(TaskStores.TRANSCRIPTS).all()) {
            all.forEachRemaining(entry -> texts.add(text(entry.value)));
        }
        return texts;
    }

    private Event last(KnownEventType type) {
        return machine.journal().stream()
                .filter(event -> event.type() == type)
                .reduce((first, second) -> second)
                .orElseThrow();
    }

    private Sessions.Row row(String session) {
        return machine.rows(TaskStores.SESSIONS).get(StoredTask.conversation("default", session));
    }

    private int count(StoreSection<?> section) {
        int rows = 0;
        try (KeyValueIterator<String, ?> all = machine.rows(section).all()) {
            while (all.hasNext()) {
                // the mark that all rows are in an index is none
                rows += all.next().key.equals("~") ? 0 : 1;
            }
        }
        return rows;
    }

    /** Bytes that have been written since the last time, to all topics and the changelog. */
    private long written() {
        long bytes = 0;
        for (String topic : machine.driver.producedTopicNames()) {
            for (TestRecord<byte[], byte[]> record : machine.output(topic).readRecordsToList()) {
                bytes += (record.key() == null ? 0 : record.key().length)
                        + (record.value() == null ? 0 : record.value().length);
            }
        }
        return bytes;
    }
}
