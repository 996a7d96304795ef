package dev.millrace.agent.core;

import dev.millrace.agent.core.TaskEvent.Admitted;
import dev.millrace.agent.core.TaskEvent.ApprovalDecided;
import dev.millrace.agent.core.TaskEvent.CancelRequested;
import dev.millrace.agent.core.TaskEvent.ChildEnded;
import dev.millrace.agent.core.TaskEvent.FailureDeclared;
import dev.millrace.agent.core.TaskEvent.InputReceived;
import dev.millrace.agent.core.TaskEvent.ModelCallFailed;
import dev.millrace.agent.core.TaskEvent.ModelReplied;
import dev.millrace.agent.core.TaskEvent.QuestionAsked;
import dev.millrace.agent.core.TaskEvent.StepCompleted;
import dev.millrace.agent.core.TaskEvent.Summarised;
import dev.millrace.agent.core.TaskEvent.TaskCreated;
import dev.millrace.agent.core.TaskEvent.TaskResumed;
import dev.millrace.agent.core.TaskEvent.TaskSuspended;
import dev.millrace.agent.core.TaskEvent.TimePassed;
import dev.millrace.agent.core.TaskEvent.ToolReturned;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Events for tests. All have the id {@code e} unless they say otherwise, and one moment. */
final class TaskEvents {

    static final String EVENT_ID = "e";
    /** How {@link #EVENT_ID} shows in the ids of the calls that follow from it. */
    static final String EVENT_HASH = "00000065";

    /** What the shell's clock says whenever it is not told otherwise. */
    static final long NOW_MS = 1_000_000;

    static final Usage USAGE = new Usage(10, 5, 0);
    /** Toolset {@code general}, five seconds. */
    static final ToolCall.Run RUN = new ToolCall.Run("general", 5_000, null);
    /** The same, if a person agrees within a minute. */
    static final ToolCall.Run RUN_IF_APPROVED =
            new ToolCall.Run("general", 5_000, new ToolCall.Approval(60_000, false));

    static final TaskError ERROR = new TaskError("provider_down", "no answer after 3 attempts");

    static final TaskError TOO_LONG = new TaskError("context_overflow", "prompt is too long");

    private TaskEvents() {}

    static Meta meta(String eventId) {
        return new Meta(eventId, TaskBuilder.TASK_ID, Instant.EPOCH, NOW_MS);
    }

    private static Meta meta() {
        return meta(EVENT_ID);
    }

    /** The id of a call that follows from event {@code e}, made when the transcript had so many entries. */
    static String callId(int iteration, int ordinal, int position) {
        return "t1/" + iteration + "/" + ordinal + "-" + position + "-" + EVENT_HASH;
    }

    /** The event that starts task {@code t1}. */
    static InputReceived firstInput(String text) {
        return firstInput(text, TaskEvent.Terms.NONE);
    }

    static InputReceived firstInput(String text, TaskEvent.Terms terms) {
        return new InputReceived(meta(TaskBuilder.TASK_ID), text, "general", 100, terms);
    }

    /** Terms of a task whose only work is this call. */
    static TaskEvent.Terms opening(ToolCall call) {
        return new TaskEvent.Terms(
                0, Deadlines.NEVER, TaskLimits.UNLIMITED, new TaskEvent.Opening(List.of(), List.of(), call));
    }

    static InputReceived input(String text) {
        return new InputReceived(meta(), text, "general", 100, TaskEvent.Terms.NONE);
    }

    static Admitted admitted() {
        return new Admitted(meta(), Usage.NONE);
    }

    static Admitted admittedWith(Usage sessionUse) {
        return new Admitted(meta(), sessionUse);
    }

    static TimePassed timePassed() {
        return timePassed(NOW_MS);
    }

    static TimePassed timePassed(long nowMs) {
        return timePassed(nowMs, 0);
    }

    static TimePassed timePassed(long nowMs, long watchedSinceMs) {
        return new TimePassed(new Meta(EVENT_ID, TaskBuilder.TASK_ID, Instant.EPOCH, nowMs), watchedSinceMs);
    }

    static TaskCreated created() {
        return new TaskCreated(meta());
    }

    static ModelReplied answered(String callId, @Nullable String text) {
        return new ModelReplied(meta(), callId, text, List.of(), false, USAGE);
    }

    static ModelReplied called(String callId, @Nullable String text, ToolCall... calls) {
        return new ModelReplied(meta(), callId, text, List.of(calls), false, USAGE);
    }

    /** The calls are to run one after the other. */
    static ModelReplied calledInOrder(String callId, ToolCall... calls) {
        return new ModelReplied(meta(), callId, null, List.of(calls), true, USAGE);
    }

    /** A question in plain words. */
    static QuestionAsked asked(String callId, String question) {
        return new QuestionAsked(meta(), callId, question, null, null, List.of(), USAGE);
    }

    /** A question by a tool call. */
    static QuestionAsked asked(String callId, String question, String toolCallId, ToolCall... calls) {
        return new QuestionAsked(meta(), callId, question, null, toolCallId, List.of(calls), USAGE);
    }

    static ModelCallFailed modelFailed(String callId) {
        return new ModelCallFailed(meta(), callId, ERROR);
    }

    /** The provider says that the conversation is too long. */
    static ModelCallFailed overflowed(String callId) {
        return new ModelCallFailed(meta(), callId, TOO_LONG);
    }

    static Summarised summarised(String callId) {
        return new Summarised(meta(), callId, "They talked", "Hi", USAGE);
    }

    static StepCompleted stepCompleted(int index) {
        return new StepCompleted(meta(), index);
    }

    static ToolReturned returned(String callId, String json) {
        return new ToolReturned(meta(), callId, json, false, null, Usage.NONE);
    }

    static ToolReturned toolFailed(String callId, String error) {
        return new ToolReturned(meta(), callId, error, true, null, Usage.NONE);
    }

    static ToolReturned notified(String callId, String message) {
        return new ToolReturned(meta(), callId, "{\"sent\":true}", false, new TaskEvent.Notice(message), Usage.NONE);
    }

    static ApprovalDecided approved(String callId) {
        return new ApprovalDecided(meta(), callId, true, null, null, "ada");
    }

    static ApprovalDecided approvedWith(String callId, String arguments) {
        return new ApprovalDecided(meta(), callId, true, arguments, null, "ada");
    }

    static ApprovalDecided rejected(String callId, @Nullable String reason, @Nullable String decidedBy) {
        return new ApprovalDecided(meta(), callId, false, null, reason, decidedBy);
    }

    /** A child in the background, started by this call, has ended. */
    static ChildEnded childEnded(String callId) {
        return new ChildEnded(meta(), callId, "Background task completed: found", USAGE);
    }

    /** A child, whose call awaits its answer, has answered. */
    static ToolReturned childReturned(String callId) {
        return new ToolReturned(meta(), callId, "{}", false, null, USAGE);
    }

    static ToolCall spawn(String toolCallId, boolean background) {
        return new ToolCall(toolCallId, "spawn_task", "{}", new ToolCall.Spawn("explore", "Look", background));
    }

    static ToolCall resumeChild(String toolCallId, String taskId) {
        return new ToolCall(toolCallId, "resume_task", "{}", new ToolCall.Resume(taskId, "Look again"));
    }

    static ToolCall stopChild(String toolCallId, String taskId) {
        return new ToolCall(toolCallId, "stop_task", "{}", new ToolCall.Stop(taskId));
    }

    static TaskSuspended suspend(String reason) {
        return new TaskSuspended(meta(), reason);
    }

    static TaskResumed resume() {
        return new TaskResumed(meta(), null, TaskLimits.UNLIMITED);
    }

    static TaskResumed resumeWith(String newInput) {
        return new TaskResumed(meta(), newInput, TaskLimits.UNLIMITED);
    }

    static CancelRequested interrupt(@Nullable String said) {
        return new CancelRequested(meta(), "stop", new TaskEvent.Interruption(said));
    }

    static CancelRequested cancel(String reason) {
        return new CancelRequested(meta(), reason);
    }

    static FailureDeclared declareFailed() {
        return new FailureDeclared(meta(), ERROR);
    }

    /** A call of toolset {@code general} with five seconds. */
    static ToolCall run(String toolCallId, String toolName, String arguments) {
        return new ToolCall(toolCallId, toolName, arguments, RUN);
    }

    /** A call that a person has to agree to within a minute. */
    static ToolCall ifApproved(String toolCallId, String toolName, String arguments) {
        return new ToolCall(toolCallId, toolName, arguments, RUN_IF_APPROVED);
    }

    static ToolCall refused(String toolCallId, String toolName, String code, String message) {
        return new ToolCall(toolCallId, toolName, "{}", new ToolCall.Refuse(code, message));
    }
}
