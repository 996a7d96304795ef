package dev.millrace.agent.core;

import dev.millrace.agent.core.TaskState.Acting;
import dev.millrace.agent.core.TaskState.Active;
import dev.millrace.agent.core.TaskState.Cancelled;
import dev.millrace.agent.core.TaskState.Completed;
import dev.millrace.agent.core.TaskState.Failed;
import dev.millrace.agent.core.TaskState.Idle;
import dev.millrace.agent.core.TaskState.KeptReply;
import dev.millrace.agent.core.TaskState.Question;
import dev.millrace.agent.core.TaskState.Reasoning;
import dev.millrace.agent.core.TaskState.Suspended;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tasks in any state, for tests: {@code aTask().reasoningAt(3)}. A task starts as {@code t1}, type {@code general}, with
 * the two characters {@code Hi} as its only transcript entry. Immutable.
 */
record TaskBuilder(TaskContext context) {

    static final String TASK_ID = "t1";

    /** The id of the call that {@link #reasoningAt} waits for. */
    static String model(int iteration) {
        return "m" + iteration;
    }

    static TaskBuilder aTask() {
        return new TaskBuilder(new TaskContext(TASK_ID, "general", 100, 0, 0, 0, 1, 2, Usage.NONE));
    }

    TaskBuilder iteration(int iteration) {
        TaskContext c = context;
        return new TaskBuilder(new TaskContext(
                c.taskId(),
                c.taskType(),
                c.priority(),
                iteration,
                c.actionsCount(),
                c.inputSeq(),
                c.transcriptLength(),
                c.transcriptChars(),
                c.usage()));
    }

    TaskBuilder actions(int actionsCount) {
        TaskContext c = context;
        return new TaskBuilder(new TaskContext(
                c.taskId(),
                c.taskType(),
                c.priority(),
                c.iteration(),
                actionsCount,
                c.inputSeq(),
                c.transcriptLength(),
                c.transcriptChars(),
                c.usage()));
    }

    /** The input that the task works on now is at this position. */
    TaskBuilder input(int seq) {
        TaskContext c = context;
        return new TaskBuilder(new TaskContext(
                c.taskId(),
                c.taskType(),
                c.priority(),
                c.iteration(),
                c.actionsCount(),
                seq,
                c.transcriptLength(),
                c.transcriptChars(),
                c.usage()));
    }

    /** So many entries, so many characters. */
    TaskBuilder transcript(int length, long chars) {
        TaskContext c = context;
        return new TaskBuilder(new TaskContext(
                c.taskId(),
                c.taskType(),
                c.priority(),
                c.iteration(),
                c.actionsCount(),
                c.inputSeq(),
                length,
                chars,
                c.usage()));
    }

    TaskBuilder used(long inputTokens, long outputTokens) {
        TaskContext c = context;
        return new TaskBuilder(new TaskContext(
                c.taskId(),
                c.taskType(),
                c.priority(),
                c.iteration(),
                c.actionsCount(),
                c.inputSeq(),
                c.transcriptLength(),
                c.transcriptChars(),
                new Usage(inputTokens, outputTokens)));
    }

    Idle idle() {
        return new Idle(context);
    }

    Reasoning reasoning(String awaiting) {
        return new Reasoning(context, awaiting);
    }

    Reasoning reasoningAt(int iteration) {
        return iteration(iteration).reasoning(model(iteration));
    }

    Acting acting(Plan.Step... steps) {
        return new Acting(context, new Plan(List.of(steps)));
    }

    Completed completed() {
        return new Completed(context);
    }

    Failed failed(TaskError error) {
        return new Failed(context, error);
    }

    Cancelled cancelled(String reason) {
        return new Cancelled(context, reason);
    }

    static Suspended suspended(Active from) {
        return new Suspended(from, "lunch", null, null);
    }

    static Suspended keeping(Active from, KeptReply kept) {
        return new Suspended(from, "lunch", kept, null);
    }

    static Suspended asking(Active from, Question question) {
        return new Suspended(from, "", null, question);
    }

    /** A step that waits for a tool; the provider's id of call {@code c1} is {@code p-c1}. */
    static Plan.CallStep open(int index, String callId, String toolName) {
        return new Plan.CallStep(index, callId, "p-" + callId, toolName, false);
    }

    static Plan.CallStep done(int index, String callId, String toolName) {
        return new Plan.CallStep(index, callId, "p-" + callId, toolName, true);
    }

    static Plan.RespondStep response(@Nullable String text) {
        return new Plan.RespondStep(0, text, false);
    }
}
