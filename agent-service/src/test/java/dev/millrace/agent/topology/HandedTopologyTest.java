package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.DiscardReason;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("what the machine is handed in its process is taken like what comes by a lane, and once")
class HandedTopologyTest {

    private static final AdmissionSettings ROOM = new AdmissionSettings(5, AdmissionSettings.Policy.QUEUE);

    @TempDir
    private Path stateDir;

    @TempDir
    private Path otherDir;

    private TestMachine machine;

    @BeforeEach
    void begin() {
        machine = new TestMachine(stateDir, ROOM);
    }

    @AfterEach
    void end() {
        machine.close();
    }

    @Test
    void shouldTakeAReplyFromHandToHand() {
        machine.send(TestMachine.message("m1"));
        machine.journal();

        machine.hand(machine.answerTo("m1"));

        assertThat(types(machine.journal()))
                .startsWith(KnownEventType.REASON_DONE)
                .endsWith(KnownEventType.TASK_COMPLETED);
    }

    @Test
    @DisplayName("of a reply that comes by hand and by its lane one is taken, whichever comes first")
    void shouldTakeOneOfTwo() {
        for (boolean handFirst : List.of(true, false)) {
            String taskId = "m" + handFirst;
            machine.send(TestMachine.message(taskId));
            Event reply = machine.answerTo(taskId);
            if (handFirst) {
                machine.hand(reply);
                machine.sendHanded(taskId, reply);
            } else {
                machine.sendHanded(taskId, reply);
                machine.hand(reply);
            }

            assertThat(types(machine.journal()))
                    .containsOnlyOnce(KnownEventType.REASON_DONE)
                    .containsOnlyOnce(KnownEventType.TASK_COMPLETED)
                    .doesNotContain(KnownEventType.MODEL_CALL_ABANDONED);
        }
        assertThat(machine.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName("a reply that was handed to a machine that is gone is taken from its lane")
    void shouldTakeFromTheLaneWhatWasLost() {
        machine.send(TestMachine.message("m1"));
        machine.journal();

        machine.sendHanded("m1", machine.answerTo("m1"));

        assertThat(types(machine.journal())).contains(KnownEventType.TASK_COMPLETED);
    }

    @Test
    @DisplayName("after a start, the copy of a reply that had been taken before changes and counts nothing")
    void shouldPassOverCopiesOfBefore() {
        machine.send(TestMachine.message("m1"));
        Event reply = machine.answerTo("m1");
        machine.hand(reply);

        try (TestMachine next = new TestMachine(otherDir, ROOM)) {
            next.inherit(machine, TaskStores.TASKS);
            next.inherit(machine, TaskStores.CALLS);
            next.model.requested.addAll(machine.model.requested);

            next.sendHanded("m1", reply);

            assertThat(next.journal()).isEmpty();
            assertThat(next.deadLetters()).isEmpty();
        }
    }

    @Test
    @DisplayName("what a reply used that is handed over after the cancel is in the journal once")
    void shouldCountAHandedReplyThatComesTooLate() {
        machine.send(TestMachine.message("m1"));
        Event reply = machine.answerTo("m1");
        machine.send(
                TestMachine.event("x1", KnownEventType.TASK_CANCEL_REQUESTED).taskId("m1"));
        machine.journal();

        machine.hand(reply);
        machine.sendHanded("m1", reply);

        assertThat(types(machine.journal())).containsExactly(KnownEventType.MODEL_CALL_ABANDONED);
    }

    @Test
    @DisplayName("a handed reply that breaks the machine fails its call, and the next one is taken")
    void shouldFailTheCallOfAReplyThatBreaks() {
        machine.send(TestMachine.message("m1"));
        machine.send(TestMachine.message("m2"));
        Event broken = machine.answerTo("m1");
        machine.journal();

        machine.breakAcceptingOnce();
        machine.hand(broken);
        machine.hand(machine.answerTo("m2"));

        assertThat(types(machine.journal()))
                .filteredOn(KnownEventType.TASK_COMPLETED::equals)
                .hasSize(2);
    }

    @Test
    @DisplayName("a tool that only reads and is served here is called here, and no request leaves")
    void shouldCallAReadingToolHere() {
        machine.serveHere("look");
        machine.send(TestMachine.message("m1"));
        machine.callTool("m1", "look");

        assertThat(machine.calledHere).hasSize(1);
        assertThat(machine.output(TestMachine.TOPICS.requests("tool")).isEmpty())
                .isTrue();
        assertThat(machine.rows(TaskStores.LOCAL_CALLS).all()).toIterable().hasSize(1);

        machine.hand(resultOf(machine.calledHere.getFirst()));

        assertThat(types(machine.journal()))
                .contains(KnownEventType.TOOL_CALL_REQUESTED, KnownEventType.TOOL_CALL_COMPLETED)
                .endsWith(KnownEventType.MODEL_CALL_REQUESTED);
        assertThat(machine.rows(TaskStores.LOCAL_CALLS).all()).toIterable().isEmpty();
    }

    @Test
    @DisplayName("a tool with effects is asked for by its topic, though it is served here")
    void shouldAskByTopicForToolsWithEffects() {
        machine.local.add("write");
        machine.serve("write");
        machine.send(TestMachine.message("m1"));

        machine.callTool("m1", "write");

        assertThat(machine.calledHere).isEmpty();
        assertThat(machine.output(TestMachine.TOPICS.requests("tool")).readRecordsToList())
                .hasSize(1);
    }

    @Test
    @DisplayName("a call that was out when its process died is asked for by its topic")
    void shouldHandOnWhatWasOut() {
        machine.serveHere("look");
        machine.send(TestMachine.message("m1"));
        machine.callTool("m1", "look");
        Event request = machine.calledHere.getFirst();

        LocalCalls after = new LocalCalls(
                machine.rows(TaskStores.LOCAL_CALLS), LocalTools.NONE, name -> true, effect -> {}, reply -> {});

        assertThat(after.handOn(after.keys()))
                .containsExactly(new TaskMove.Request(
                        "tool", ((Payload.ToolCallRequested) request.payload()).callId(), request));
        assertThat(machine.rows(TaskStores.LOCAL_CALLS).all()).toIterable().isEmpty();
        assertThat(after.keys()).isEmpty();
    }

    @Test
    @DisplayName("of a task that is forgotten no call is left, and its start is still known")
    void shouldForgetCallsWithTheirTask() {
        machine.serveHere("look");
        machine.send(TestMachine.message("m1"));
        machine.callTool("m1", "look");

        machine.send(TestMachine.event("f1", KnownEventType.FORGET_REQUESTED)
                .source("test")
                .taskId("m1")
                .payload(Map.of("scope", "task", "taskId", "m1")));
        machine.driver.advanceWallClockTime(Duration.ofSeconds(1));
        machine.journal();
        machine.send(TestMachine.message("m1"));

        assertThat(machine.rows(TaskStores.LOCAL_CALLS).all()).toIterable().isEmpty();
        assertThat(machine.rows(TaskStores.TASKS).all()).toIterable().isEmpty();
        assertThat(machine.journal()).isEmpty();
        assertThat(machine.discards()).contains(DiscardReason.DUPLICATE);
    }

    private static Event resultOf(Event request) {
        if (!(request.payload() instanceof Payload.ToolCallRequested call)) {
            throw new AssertionError("expected a request, found " + request.type());
        }
        return Event.root(Ids.hash(call.callId()), KnownEventType.TOOL_CALL_COMPLETED, TestMachine.START)
                .taskId(request.taskId())
                .sessionId(request.sessionId())
                .correlationId(request.correlationId())
                .parentEventId(request.id())
                .payload(new Payload.ToolCallCompleted(call.callId(), call.toolName(), Map.of("found", 1), 1L, null))
                .build();
    }

    private static List<EventType> types(List<Event> events) {
        return events.stream().map(Event::type).toList();
    }
}
