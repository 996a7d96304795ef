package dev.millrace.agent.core;

import org.jspecify.annotations.Nullable;

/** Something that the machine itself makes true and that everyone may read in the journal. */
public sealed interface Fact {

    /** A fact that the machine takes as the next event of the task, in the same transaction. */
    sealed interface Consequence extends Fact {
        /**
         * The event.
         *
         * @param meta of the fact in the journal
         */
        TaskEvent event(Meta meta);
    }

    /** The task exists (TASK_CREATED). */
    record Created(String taskType) implements Consequence {
        @Override
        public TaskEvent event(Meta meta) {
            return new TaskEvent.TaskCreated(meta);
        }
    }

    /**
     * A step that is no tool call is done (STEP_COMPLETED).
     *
     * @param actionsCount steps done so far, this one among them
     */
    record StepDone(int stepIndex, int actionsCount) implements Consequence {
        @Override
        public TaskEvent event(Meta meta) {
            return new TaskEvent.StepCompleted(meta, stepIndex);
        }
    }

    /** A tool call was refused before it ran (TOOL_CALL_FAILED). */
    record ToolRefused(String callId, String toolName, String code, String message) implements Consequence {
        @Override
        public TaskEvent event(Meta meta) {
            return new TaskEvent.ToolReturned(meta, callId, message, true, null, Usage.NONE);
        }
    }

    /**
     * A child works in the background; that is the result of the call for now (TOOL_CALL_COMPLETED).
     *
     * @param sessionId the conversation that it has of its own; {@code null} = none
     */
    record ChildAccepted(
            String callId,
            String toolName,
            String childId,
            @Nullable String sessionId) implements Consequence {
        @Override
        public TaskEvent event(Meta meta) {
            String session = sessionId == null ? "" : ",\"session_id\":\"" + sessionId + "\"";
            String result = "{\"status\":\"accepted\",\"task_id\":\"" + childId + "\"" + session + "}";
            return new TaskEvent.ToolReturned(meta, callId, result, false, null, Usage.NONE);
        }
    }

    /** A child that works in the background was asked to end (TOOL_CALL_COMPLETED). */
    record ChildStopping(String callId, String toolName, String childId) implements Consequence {
        @Override
        public TaskEvent event(Meta meta) {
            String result = "{\"status\":\"stopping\",\"task_id\":\"" + childId + "\"}";
            return new TaskEvent.ToolReturned(meta, callId, result, false, null, Usage.NONE);
        }
    }

    /** A model call took too long (MODEL_CALL_FAILED). */
    record ModelTimedOut(String callId, long timeoutMs) implements Consequence {
        /** What the task fails with. */
        public TaskError error() {
            return new TaskError("timeout", "No reply of the model within " + timeoutMs + "ms");
        }

        @Override
        public TaskEvent event(Meta meta) {
            return new TaskEvent.ModelCallFailed(meta, callId, error());
        }
    }

    /** A tool call took too long (TOOL_CALL_FAILED). */
    record ToolTimedOut(String callId, String toolName, long timeoutMs) implements Consequence {
        /** What the model is told. */
        public String message() {
            return "Tool execution timed out after " + timeoutMs + "ms: no worker answered";
        }

        @Override
        public TaskEvent event(Meta meta) {
            return new TaskEvent.ToolReturned(meta, callId, message(), true, null, Usage.NONE);
        }
    }

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
    record ApprovalExpired(String callId, boolean approved) implements Consequence {
        /** Who has decided. */
        public static final String DECIDED_BY = "expiry";
        /** Why. */
        public static final String REASON = "nobody decided in time";

        @Override
        public TaskEvent event(Meta meta) {
            return new TaskEvent.ApprovalDecided(meta, callId, approved, null, REASON, DECIDED_BY);
        }
    }

    /** A tool call needs no decision any more: the task goes on with what somebody said (APPROVAL_DECIDED). */
    record ApprovalWithdrawn(String callId) implements Fact {}

    /** The task waits (TASK_SUSPENDED), because the model asked. */
    record Asked(String question) implements Fact {}

    /** The task told its owner, or a channel, something (TASK_NOTIFY). */
    record Notified(TaskEvent.Notice notice) implements Fact {

        /** For the owner. */
        public Notified(String message) {
            this(new TaskEvent.Notice(message));
        }
    }

    /**
     * The task ended with an answer (TASK_COMPLETED).
     *
     * @param inputSeq position in the transcript of the input
     * @param response {@code null} = the model had nothing to say
     */
    record Completed(int inputSeq, @Nullable String response, int iterations, int actionsCount, Usage usage)
            implements Fact {}

    /** The task ended with an error (TASK_FAILED). */
    record Failed(TaskError error, int iterations, Usage usage) implements Fact {}

    /** The task was cancelled (TASK_CANCELLED). */
    record Cancelled(
            String reason,
            @Nullable String response,
            @Nullable String notice) implements Fact {

        /** Without a word in the session. */
        public Cancelled(String reason) {
            this(reason, null, null);
        }
    }
}
