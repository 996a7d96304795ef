package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.event;
import static dev.millrace.agent.topology.TestMachine.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.millrace.agent.Agents;
import dev.millrace.agent.core.Deadlines;
import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.core.TaskContext;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.topology.AdmissionSettings.Policy;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose turn it is: places, sessions, answers, cancels that come early, a shutdown that drains. */
@Tag("slow")
class AdmissionTopologyTest {

    @TempDir
    Path stateDir;

    private TestMachine machine;

    @BeforeEach
    @SuppressWarnings("NullAway") // fields of a test
    void start() {
        machine = new TestMachine(stateDir, new AdmissionSettings(2, Policy.QUEUE));
    }

    @AfterEach
    void stop() {
        machine.close();
    }

    @Test
    @DisplayName("F-045, F-285, X-13: above the limit tasks wait, and go on by effective priority, then by arrival")
    void shouldAdmitByPriorityThenArrival() {
        // given: both places taken
        machine.send(message("busy1"));
        machine.send(message("busy2"));
        for (String task : List.of("c1", "a1", "b1", "c2", "a2", "b2")) {
            machine.send(message(task).priority(task.charAt(0) - 'a' + 101));
        }
        assertThat(machine.called()).containsExactly("busy1", "busy2");
        assertThat(machine.occupancy.active()).isEqualTo(2);
        assertThat(machine.occupancy.waiting()).isEqualTo(6);

        // when
        for (int i = 0; i < 6; i++) {
            machine.answer(machine.called().get(i));
        }

        // then
        assertThat(machine.called()).containsExactly("busy1", "busy2", "a1", "a2", "b1", "b2", "c1", "c2");
    }

    @Test
    @DisplayName("F-127, X-08: TASK_CREATED is written when the task is admitted, and the message is its parent")
    void shouldCreateAtAdmission() {
        // given
        machine.send(message("m1"));
        machine.send(message("m2"));
        machine.send(message("m3").source("kcat").payload(Map.of("text", "late", "metadata", Map.of("a", 1))));
        assertThat(machine.journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_CREATED)
                .extracting(Event::taskId)
                .containsExactly("m1", "m2");

        // when
        machine.answer("m1");

        // then
        Event created = machine.journal().stream()
                .filter(event -> event.type() == KnownEventType.TASK_CREATED)
                .findFirst()
                .orElseThrow();
        assertThat(created.parentEventId()).isEqualTo("m3");
        assertThat(created.fields())
                .containsEntry("inputText", "late")
                .containsEntry("source", "kcat")
                .containsEntry("inputMetadata", Map.of("a", 1));
    }

    @Test
    @DisplayName("F-289: one task of a session at a time, in order; another session is not held up")
    void shouldRunSessionsSequentially() {
        machine.send(message("m1").sessionId("s1"));
        machine.send(message("m2").sessionId("s1"));
        machine.send(message("m3").sessionId("s2"));
        assertThat(machine.called()).containsExactly("m1", "m3");

        machine.answer("m1");

        assertThat(machine.called()).containsExactly("m1", "m3", "m2");
    }

    @Test
    @DisplayName(
            "sessions of different namespaces, and a task without a session of the same name, have nothing in common")
    void shouldTellSessionsApart() {
        machine.send(message("m1").sessionId("s1"));
        machine.send(message("m2").sessionId("s1").namespace("acme"));
        machine.answer("m1");
        machine.send(message("s1"));

        assertThat(machine.called()).containsExactly("m1", "m2", "s1");
    }

    @Test
    @DisplayName("X-10: while a task waits for an answer, the next message of its session is the answer")
    void shouldTakeTheNextMessageAsTheAnswer() {
        // given
        machine.send(message("m1").sessionId("s1"));
        machine.ask("m1", "How many?");
        machine.send(message("other").sessionId("s2"));

        // when
        machine.send(message("m2").sessionId("s1").payload(Map.of("text", "four")));

        // then
        assertThat(machine.called()).containsExactly("m1", "other", "m1");
        assertThat(machine.journal())
                .filteredOn(event -> event.id().equals("m2"))
                .extracting(Event::taskId)
                .containsExactly("m1");
    }

    @Test
    @DisplayName("while a task waits for an answer, its session waits and its place does not")
    void shouldHoldTheSessionForAnAnswer() {
        machine.send(message("m1").sessionId("s1"));
        machine.send(message("m2").sessionId("s1"));
        machine.ask("m1", "How many?");
        machine.send(message("m3"));
        machine.send(message("m4"));

        assertThat(machine.called()).containsExactly("m1", "m3", "m4");
        machine.send(message("a1").sessionId("s1"));
        machine.answer("m3");
        machine.answer("m1");
        assertThat(machine.called()).containsExactly("m1", "m3", "m4", "m1", "m2");
    }

    @Test
    @DisplayName("a suspended task gives its place back, and stands in line again with its old number")
    void shouldAdmitResumedTasksAgain() {
        // given
        machine.send(message("m1"));
        machine.send(message("m2"));
        machine.send(message("m3"));
        machine.send(event("x1", KnownEventType.TASK_SUSPENDED).taskId("m1"));
        assertThat(machine.called()).containsExactly("m1", "m2", "m3");
        machine.send(message("m4"));

        // when: resumed with something new, while both places are taken
        machine.send(event("x2", KnownEventType.TASK_RESUMED).taskId("m1").payload(Map.of("newInput", "and be quick")));
        machine.answer("m2");

        // then: the first to have come goes first
        assertThat(machine.called()).containsExactly("m1", "m2", "m3", "m1");
    }

    @Test
    @DisplayName("X-13, reject: a new task fails at once when all places are taken")
    void shouldTurnTasksAway() {
        machine.close();
        machine = new TestMachine(stateDir, new AdmissionSettings(1, Policy.REJECT));
        machine.send(message("m1").sessionId("s1"));
        machine.send(message("m2"));
        machine.answer("m1");
        machine.send(message("m3"));

        assertThat(machine.called()).containsExactly("m1", "m3");
        assertThat(machine.journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_FAILED)
                .satisfiesExactly(failed -> {
                    assertThat(failed.taskId()).isEqualTo("m2");
                    assertThat(failed.parentEventId()).isEqualTo("m2");
                    assertThat(failed.text("code")).isEqualTo("admission_rejected");
                });
    }

    @Test
    @DisplayName("a namespace has no more tasks at work than its quota allows, and its others hold up nobody else")
    void shouldKeepToTheQuotaOfWork() {
        machine.close();
        machine = new TestMachine(
                stateDir, new AdmissionSettings(3, Policy.QUEUE, Map.of("*", new AdmissionSettings.Quota(2, null))));
        machine.send(message("a1").namespace("acme"));
        machine.send(message("a2").namespace("acme"));
        machine.send(message("a3").namespace("acme").priority(1));
        machine.send(message("r1").namespace("rival"));
        assertThat(machine.called()).containsExactly("a1", "a2", "r1");
        machine.send(message("r2").namespace("rival"));

        machine.answer("r1");
        machine.answer("a1");

        assertThat(machine.called()).containsExactly("a1", "a2", "r1", "r2", "a3");
    }

    @Test
    @DisplayName("of a namespace no more wait than its quota allows: the next one fails, however it would have waited")
    void shouldKeepToTheQuotaOfThoseWhoWait() {
        machine.close();
        machine = new TestMachine(
                stateDir,
                new AdmissionSettings(
                        2,
                        Policy.QUEUE,
                        Map.of("acme", new AdmissionSettings.Quota(1, 1), "*", new AdmissionSettings.Quota(null, 0))));
        machine.send(message("a1").namespace("acme"));
        machine.send(message("a2").namespace("acme"));
        machine.send(message("a3").namespace("acme"));
        machine.send(message("r1").namespace("rival").sessionId("s1"));
        machine.send(message("r2").namespace("rival").sessionId("s1"));
        machine.send(message("r3").namespace("rival"));
        machine.answer("r1");
        machine.send(message("r4").namespace("rival"));

        assertThat(machine.called()).containsExactly("a1", "r1", "r4");
        assertThat(machine.journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_FAILED)
                .extracting(Event::taskId, failed -> failed.text("code"), failed -> failed.text("error"))
                .containsExactly(
                        tuple(
                                "a3",
                                "admission_rejected",
                                "expected at most 1 tasks of the namespace to wait (millrace.agent.quotas), found 2"),
                        tuple(
                                "r2",
                                "admission_rejected",
                                "expected at most 0 tasks of the namespace to wait (millrace.agent.quotas), found 1"),
                        tuple(
                                "r3",
                                "admission_rejected",
                                "expected at most 0 tasks of the namespace to wait (millrace.agent.quotas), found 1"));
    }

    @Test
    @DisplayName("reject: a task that its namespace's quota leaves no place is turned away as well")
    void shouldTurnAwayWhoIsAboveTheQuota() {
        machine.close();
        machine = new TestMachine(
                stateDir,
                new AdmissionSettings(5, Policy.REJECT, Map.of("acme", new AdmissionSettings.Quota(1, null))));
        machine.send(message("a1").namespace("acme"));
        machine.send(message("a2").namespace("acme"));
        machine.send(message("r1").namespace("rival"));
        machine.send(message("r2").namespace("rival"));

        assertThat(machine.called()).containsExactly("a1", "r1", "r2");
    }

    @Test
    @DisplayName("X-13, warn: tasks are admitted above the limit, counted, and still one of a session at a time")
    void shouldWarn() {
        machine.close();
        machine = new TestMachine(stateDir, new AdmissionSettings(1, Policy.WARN));
        machine.send(message("m1").sessionId("s1"));
        machine.send(message("m2").sessionId("s1"));
        machine.send(message("m3"));

        assertThat(machine.called()).containsExactly("m1", "m3");
        assertThat(machine.admittedOverLimit()).isEqualTo(1);
    }

    @Test
    @DisplayName("a task is cancelled while it stands in line, and does not get a place")
    void shouldCancelInLine() {
        machine.send(message("m1"));
        machine.send(message("m2"));
        machine.send(message("m3"));
        machine.send(event("x", KnownEventType.TASK_CANCEL_REQUESTED).taskId("m3"));
        machine.send(event("y", KnownEventType.TASK_CANCEL_REQUESTED).taskId("m3"));
        machine.answer("m1");

        assertThat(machine.called()).containsExactly("m1", "m2");
        assertThat(machine.occupancy.waiting()).isZero();
        assertThat(machine.discards()).containsExactly(DiscardReason.TASK_ENDED);
    }

    @Test
    @DisplayName(
            "a cancel that overtakes the start of its task: the task starts as cancelled, all of it in the journal once")
    void shouldRememberAnEarlyCancel() {
        // when
        machine.send(
                event("x", KnownEventType.TASK_CANCEL_REQUESTED).taskId("m1").payload(Map.of("reason", "oops")));
        machine.send(message("m1"));
        machine.send(event("y", KnownEventType.TASK_CANCEL_REQUESTED).taskId("m1"));

        // then
        List<Event> journal = machine.journal();
        assertThat(machine.called()).isEmpty();
        assertThat(journal).extracting(Event::id).doesNotHaveDuplicates();
        assertThat(journal.getLast().type()).isEqualTo(KnownEventType.TASK_CANCELLED);
        assertThat(journal.getLast().parentEventId()).isEqualTo("x");
        assertThat(journal.getLast().text("reason")).isEqualTo("oops");
        assertThat(machine.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName("SYSTEM_SHUTTING_DOWN drains: running tasks go on, nothing new is admitted until SYSTEM_STARTED")
    void shouldDrain() {
        // given
        machine.send(message("m1"));
        machine.send(event("d", KnownEventType.SYSTEM_SHUTTING_DOWN)
                .payload(Map.of("reason", "an upgrade"))
                .extensions(Map.of("authid", "ada")));

        // when
        machine.send(message("m2"));
        machine.answer("m1");
        assertThat(machine.called()).containsExactly("m1");
        assertThat(machine.journal()).extracting(Event::type).contains(KnownEventType.TASK_COMPLETED);
        assertThat(machine.occupancy.drain()).hasValueSatisfying(drain -> {
            assertThat(drain.reason()).isEqualTo("an upgrade");
            assertThat(drain.by()).isEqualTo("ada");
        });
        machine.send(event("u", KnownEventType.SYSTEM_STARTED));
        assertThat(machine.occupancy.drain()).isEmpty();

        // then
        assertThat(machine.called()).containsExactly("m1", "m2");
    }

    @Test
    @DisplayName("M2, N2: an instance that starts, as in a rolling update, ends no drain")
    void shouldStayDrainedWhenAnInstanceStarts() {
        machine.send(event("d", KnownEventType.SYSTEM_SHUTTING_DOWN));
        machine.send(event("up", KnownEventType.SYSTEM_STARTED).payload(Map.of("instance", "a", "version", "2")));
        machine.send(message("m1"));
        assertThat(machine.called()).isEmpty();

        machine.send(event("u", KnownEventType.SYSTEM_STARTED));

        assertThat(machine.called()).containsExactly("m1");
        assertThat(machine.journal()).extracting(Event::id).contains("d", "up", "u");
    }

    @Test
    @DisplayName("a task for an agent that there is not is no task, and none of general's")
    void shouldRefuseUnknownAgents() {
        machine.send(message("m1").payload(Map.of("text", "hi", "taskType", "carefull")));
        machine.send(event("m2", KnownEventType.WEBHOOK_TRIGGERED).payload(Map.of("text", "hi", "taskType", "x")));
        machine.send(message("m3").payload(Map.of("text", "hi", "taskType", "general@0123456789ab")));
        assertThat(machine.deadLetters()).containsExactly("unknown_agent", "unknown_agent", "unknown_agent");
        assertThat(machine.called()).isEmpty();

        machine.send(message("m4").payload(Map.of("text", "hi", "taskType", " ")));
        machine.send(message("m1").payload(Map.of("text", "hi", "taskType", "plan")));

        assertThat(machine.called()).as("the first id was not used up").containsExactly("m4", "m1");
    }

    @Test
    @DisplayName("what takes tasks for unknown agents is told as who does the task, never the wish")
    void shouldTellTheAgentThatReallyRuns(@TempDir Path other) {
        // given
        Agents agents = BuiltInAgents.agents("explore");
        try (TestMachine lenient = new TestMachine(other, new AdmissionSettings(2, Policy.QUEUE), agents)) {
            // when
            lenient.send(message("m1").payload(Map.of("text", "hi", "taskType", "orderdesk")));

            // then
            assertThat(lenient.journal())
                    .filteredOn(event -> event.type() == KnownEventType.TASK_CREATED)
                    .singleElement()
                    .satisfies(created -> assertThat(created.fields())
                            .containsEntry("taskType", "explore")
                            .containsEntry("agentVersion", agents.of("explore").version()));
        }
    }

    @Test
    @DisplayName("a task in line goes on with its agent's version, and fails if that is gone for good")
    void shouldFailWhenTheAgentIsGone() {
        // given
        machine.use("clerk", "---\ndescription: d\ntools: []\n---\np");
        String reference = machine.agents.of("clerk").reference();
        machine.send(message("first"));
        machine.send(message("second"));
        machine.send(message("m1").payload(Map.of("text", "hi", "taskType", "clerk")));
        machine.send(message("m2").payload(Map.of("text", "hi", "taskType", "clerk")));

        // when: its file goes; then its version, too
        machine.agents.drop("clerk");
        machine.answer("first");
        assertThat(machine.called()).containsExactly("first", "second", "m1");
        machine.agents.forget(reference);
        machine.answer("second");

        // then
        assertThat(machine.called()).containsExactly("first", "second", "m1");
        assertThat(machine.journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_FAILED)
                .singleElement()
                .satisfies(failed -> {
                    assertThat(failed.taskId()).isEqualTo("m2");
                    assertThat(failed.text("code")).isEqualTo("unknown_agent");
                    assertThat(failed.text("error")).contains(reference);
                });
    }

    @Test
    @DisplayName(
            "M3: an id is that of one task: another session starts no second one with it, on this or another partition")
    void shouldKeepAnIdToOneTask() {
        // given
        machine.send(message("m1").sessionId("a"));
        machine.elsewhere.add("m2");

        // when
        machine.send(message("m1").sessionId("a"));
        machine.send(message("m1").sessionId("b"));
        machine.send(message("m1"));
        machine.send(message("m2").sessionId("b"));

        // then
        assertThat(machine.called()).containsExactly("m1");
        assertThat(machine.deadLetters()).containsExactly("duplicate_id", "duplicate_id", "duplicate_id");
        assertThat(machine.discards()).containsExactly(DiscardReason.DUPLICATE);
    }

    @Test
    @DisplayName("X-27, X-10: the double of an answer to a suspended task starts no second one, for 24 hours")
    void shouldTakeAnAnswerOnce() {
        // given
        machine.send(message("m1").sessionId("s1"));
        machine.ask("m1", "Which one?");

        // when: it comes again while the task works, after its end, and just before the ids are forgotten
        machine.send(message("a1").sessionId("s1"));
        machine.send(message("a1").sessionId("s1"));
        machine.answer("m1");
        machine.send(message("a1").sessionId("s1"));
        machine.driver.advanceWallClockTime(Duration.ofHours(24).minusMinutes(1));
        machine.send(message("a1").sessionId("s1"));

        // then
        assertThat(machine.called()).containsExactly("m1", "m1");
        assertThat(machine.discards())
                .containsExactly(DiscardReason.DUPLICATE, DiscardReason.DUPLICATE, DiscardReason.DUPLICATE);

        // when: nobody promises more
        machine.driver.advanceWallClockTime(Duration.ofMinutes(2));
        machine.send(message("a1").sessionId("s1"));

        // then
        assertThat(machine.called()).containsExactly("m1", "m1", "a1");
    }

    @Test
    @DisplayName("F-287: an answer that has expired on its lane answers nothing, and whoever sent it is told")
    void shouldNotTakeAnAnswerThatHasExpired() {
        // given
        machine.send(message("m1").sessionId("s1"));
        machine.ask("m1", "Which one?");

        // when
        machine.send(message("a1").sessionId("s1").expiry(TestMachine.START.minusMillis(1)));

        // then
        assertThat(machine.called()).containsExactly("m1");
        assertThat(machine.journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_FAILED)
                .singleElement()
                .satisfies(failed -> assertThat(failed.taskId()).isEqualTo("a1"));
        machine.send(message("a2").sessionId("s1"));
        assertThat(machine.called()).containsExactly("m1", "m1");
    }

    @Test
    @DisplayName("F-176, X-17: where the policy is fail, a start fails what was under way, and nothing else")
    void shouldFailWhatWasUnderWay(@TempDir Path other) {
        // given: one waits for its model, one for a tool, one for a person; and another machine takes over
        machine.serve("write");
        machine.send(message("m3"));
        machine.ask("m3", "Which one?");
        machine.send(message("m1"));
        machine.send(message("m2"));
        machine.callTool("m2", "write");
        try (TestMachine next = new TestMachine(other, new AdmissionSettings(10, Policy.QUEUE), RestartPolicy.FAIL)) {
            next.inherit(machine, TaskStores.TASKS);
            next.inherit(machine, TaskStores.TRANSCRIPTS);
            next.inherit(machine, TaskStores.TIMERS);

            // when
            next.driver.advanceWallClockTime(Duration.ofMillis(200));

            // then
            assertThat(next.journal())
                    .filteredOn(event -> event.type() == KnownEventType.TASK_FAILED)
                    .allSatisfy(failed -> {
                        assertThat(failed.text("code")).isEqualTo("process_restarted");
                        assertThat(failed.text("error")).isEqualTo("process restarted, task cancelled");
                    })
                    .extracting(Event::taskId)
                    .containsExactlyInAnyOrder("m1", "m2");

            // when: what begins from now on, and who waited for a person, goes on
            next.send(message("a3").taskId("m3"));
            next.send(message("m4"));
            next.driver.advanceWallClockTime(Duration.ofMillis(200));

            // then
            assertThat(next.called()).containsExactly("m3", "m4");
        }
    }

    @Test
    @DisplayName("what was under way at a start fails also if the transaction that failed it was aborted, and what has"
            + " begun or gone on since then does not, whatever is aborted later")
    void shouldFailWhatWasUnderWayAfterAnAbort(@TempDir Path before, @TempDir Path after) {
        // given: one that waits for its model, and another process that begins with it
        machine.send(message("m1"));
        try (TestMachine next = new TestMachine(
                        before.resolve("a"), new AdmissionSettings(10, Policy.QUEUE), RestartPolicy.FAIL);
                TestMachine kept = new TestMachine(after.resolve("a"), new AdmissionSettings(10, Policy.QUEUE))) {
            inherit(next, machine);
            next.driver.advanceWallClockTime(Duration.ofMillis(200));
            assertThat(failed(next)).containsExactly("m1");

            // when: nothing of that was kept
            next.beginAnew(before.resolve("b"));
            inherit(next, machine);
            next.driver.advanceWallClockTime(Duration.ofMillis(200));

            // then
            assertThat(failed(next)).containsExactly("m1");

            // when: all of it was, and what has begun since then
            next.send(message("m2"));
            inherit(kept, next);
            next.beginAnew(before.resolve("c"));
            inherit(next, kept);
            next.driver.advanceWallClockTime(Duration.ofMillis(200));

            // then
            assertThat(failed(next)).isEmpty();
            assertThat(next.rows(TaskStores.TASKS).get("m2").state()).isInstanceOf(TaskState.Active.class);

            // when: somebody else had it meanwhile, where it went on
            machine.serve("write");
            machine.callTool("m1", "write");
            next.beginAnew(before.resolve("d"));
            inherit(next, machine);
            next.driver.advanceWallClockTime(Duration.ofMillis(200));

            // then
            assertThat(failed(next)).isEmpty();
            assertThat(next.rows(TaskStores.TASKS).get("m1").state()).isInstanceOf(TaskState.Active.class);
        }
    }

    private static void inherit(TestMachine machine, TestMachine before) {
        machine.inherit(before, TaskStores.TASKS);
        machine.inherit(before, TaskStores.TRANSCRIPTS);
        machine.inherit(before, TaskStores.TIMERS);
    }

    /** Tasks that have failed since the last time because the process was started. */
    private static List<String> failed(TestMachine machine) {
        return machine.journal().stream()
                .filter(event -> "process_restarted".equals(event.text("code")))
                .map(event -> String.valueOf(event.taskId()))
                .toList();
    }

    @Test
    @DisplayName("X-07: system events are in the journal, and an instance that stops alone drains nothing")
    void shouldRecordSystemEvents() {
        machine.send(event("b", KnownEventType.HEARTBEAT).payload(Map.of("instance", "a")));
        machine.send(event("d", KnownEventType.SYSTEM_SHUTTING_DOWN).payload(Map.of("instance", "a")));
        machine.send(event("u", KnownEventType.SYSTEM_STARTED).payload(Map.of("instance", "a")));
        machine.send(event("u", KnownEventType.SYSTEM_STARTED).payload(Map.of("instance", "a")));
        machine.send(message("m1"));

        assertThat(machine.journal()).extracting(Event::id).startsWith("b", "d", "u", "m1");
        assertThat(machine.called()).containsExactly("m1");
    }

    @Test
    @DisplayName("an event that names a task and not its session is sent to the session's partition once")
    void shouldLookUpTheSession() {
        // given: two partitions, of which the driver has the first; the session is on the second, the task's id on the
        // first
        machine.close();
        machine = new TestMachine(stateDir, new AdmissionSettings(2, Policy.QUEUE), 2);
        String session = onPartition(1);
        String task = onPartition(0);
        machine.sessions.put(task, session);
        TestOutputTopic<byte[], byte[]> lane = machine.output(TestMachine.TOPICS.lane(Segment.TASK));

        // when
        machine.send(event("r1", KnownEventType.TASK_RESUMED).taskId(task));

        // then: the driver feeds what was sent back to the only partition it has
        assertThat(lane.readRecordsToList())
                .extracting(TestRecord::getKey)
                .containsExactly(session.getBytes(StandardCharsets.UTF_8));
        assertThat(machine.deadLetters()).containsExactly("wrong_partition");
    }

    @Test
    @DisplayName("a defect while one task is admitted costs that task, and the next one is admitted")
    void shouldFailOnlyTheBrokenTask() {
        // given: a row that the machine cannot work with, in line before others, of which there are so many that it
        // will be read
        // out of the store again
        machine.send(message("m1"));
        machine.send(message("m2"));
        machine.send(message("broken"));
        machine.send(message("m4"));
        IntStream.range(5, 5 + MoveWriter.MOST_RECENT).forEach(i -> machine.send(message("m" + i)));
        KeyValueStore<String, StoredTask> tasks = machine.rows(TaskStores.TASKS);
        StoredTask row = tasks.get("broken");
        tasks.put("broken", row.with(unusable(row.state()), row.updatedAtMs()));

        // when
        machine.answer("m1");

        // then
        assertThat(machine.called()).containsExactly("m1", "m2", "m4");
        assertThat(machine.journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_FAILED)
                .extracting(event -> event.taskId() + ": " + event.text("code"))
                .containsExactly("broken: internal_error");
    }

    @Test
    @DisplayName("more tasks than one record may let in are let in by the clock")
    void shouldLetInWhatIsLeft() {
        machine.close();
        machine = new TestMachine(stateDir, new AdmissionSettings(1000, Policy.QUEUE));
        machine.send(event("d", KnownEventType.SYSTEM_SHUTTING_DOWN));
        for (int i = 0; i < 250; i++) {
            machine.send(message("m" + i));
        }
        machine.send(event("u", KnownEventType.SYSTEM_STARTED));
        assertThat(machine.called()).hasSize(100);

        machine.driver.advanceWallClockTime(Duration.ofMillis(200));
        machine.driver.advanceWallClockTime(Duration.ofMillis(200));

        assertThat(machine.called()).hasSize(250);
    }

    @SuppressWarnings("NullAway") // the point of it
    private static TaskState unusable(TaskState state) {
        TaskContext context = ((TaskState.Existing) state).context();
        return new TaskState.Idle(
                new TaskContext(
                        context.taskId(),
                        null,
                        context.priority(),
                        0,
                        context.progress(),
                        context.budget(),
                        context.children(),
                        context.window()),
                false,
                Deadlines.NEVER);
    }

    private static String onPartition(int partition) {
        return Stream.of("a", "b", "c", "d", "e")
                .filter(key -> Utils.toPositive(Utils.murmur2(key.getBytes(StandardCharsets.UTF_8))) % 2 == partition)
                .findFirst()
                .orElseThrow();
    }
}
