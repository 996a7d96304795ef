package dev.millrace.agent.core;

import org.jspecify.annotations.Nullable;

/** Something that the machine itself makes true and that everyone may read in the journal. */
public sealed interface Fact {

    /** The task exists (TASK_CREATED). */
    record Created(String taskType) implements Fact {}

    /**
     * A step that is no tool call is done (STEP_COMPLETED, F-092).
     *
     * @param actionsCount steps done so far, this one among them
     */
    record StepDone(int stepIndex, int actionsCount) implements Fact {}

    /** A tool call was refused before it ran (TOOL_CALL_FAILED, F-154). */
    record ToolRefused(String callId, String toolName, String code, String message) implements Fact {}

    /** A child works in the background; that is the result of the call for now (TOOL_CALL_COMPLETED). */
    record ChildAccepted(String callId, String toolName, String childId) implements Fact {}

    /** A model call took too long (MODEL_CALL_FAILED, X-43). */
    record ModelTimedOut(String callId, long timeoutMs) implements Fact {}

    /** A tool call took too long (TOOL_CALL_FAILED, X-43). */
    record ToolTimedOut(String callId, String toolName, long timeoutMs) implements Fact {}

    /**
     * A person has to agree before a tool call runs (APPROVAL_REQUESTED).
     *
     * @param arguments a JSON object as text
     * @param expiresAtMs when it is decided without the person, in Unix milliseconds
     * @param reason why, in words; {@code null} = every such call needs it
     */
    record ApprovalRequested(
            String callId,
            String toolCallId,
            String toolName,
            String arguments,
            long expiresAtMs,
            @Nullable String reason)
            implements Fact {}

    /** Nobody has decided on a tool call in time (APPROVAL_DECIDED). */
    record ApprovalExpired(String callId, boolean approved) implements Fact {}

    /** A tool call needs no decision any more: the task goes on with what somebody said (APPROVAL_DECIDED). */
    record ApprovalWithdrawn(String callId) implements Fact {}

    /** The task waits (TASK_SUSPENDED), because the model asked. */
    record Asked(String question) implements Fact {}

    /** The task told its owner something (TASK_NOTIFY, F-115). */
    record Notified(String message) implements Fact {}

    /**
     * The task ended with an answer (TASK_COMPLETED, F-073).
     *
     * @param inputSeq position in the transcript of the input
     * @param response {@code null} = the model had nothing to say
     */
    record Completed(int inputSeq, @Nullable String response, int iterations, int actionsCount, Usage usage)
            implements Fact {}

    /** The task ended with an error (TASK_FAILED). */
    record Failed(TaskError error, int iterations, Usage usage) implements Fact {}

    /** The task was cancelled (TASK_CANCELLED). */
    record Cancelled(String reason) implements Fact {}
}
