package dev.millrace.agent.core;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What can happen to a task. Past tense: it has happened; the machine only decides what follows. */
public sealed interface TaskEvent {

    /** Id, task and time. */
    Meta meta();

    /**
     * Someone said something: the start of a task, or the answer that a suspended one waits for.
     *
     * @param text never empty
     * @param taskType the agent that is to work, such as {@code general}
     * @param priority the effective priority, which the task's own work inherits
     * @param terms on which a new task starts; of no meaning to one that exists
     */
    record InputReceived(Meta meta, String text, String taskType, int priority, Terms terms) implements TaskEvent {}

    /**
     * On what terms a task starts.
     *
     * @param causalDepth how many tasks led to this one, each starting the next; 0 = none did
     * @param expiresAtMs when it is no longer wanted if it has not been admitted by then, in Unix milliseconds; {@link
     *     Deadlines#NEVER} = it always is
     * @param limits what it may use at most, beside what the machine allows any task
     * @param opening what the model is shown besides the text
     */
    record Terms(int causalDepth, long expiresAtMs, TaskLimits limits, Opening opening) {
        /** None that are worth a word. */
        public static final Terms NONE = new Terms(0, Deadlines.NEVER, TaskLimits.UNLIMITED);

        public Terms {
            // what an older version recorded has none
            opening = opening == null ? Opening.NONE : opening;
        }

        /** The text alone opens the conversation. */
        public Terms(int causalDepth, long expiresAtMs, TaskLimits limits) {
            this(causalDepth, expiresAtMs, limits, Opening.NONE);
        }
    }

    /**
     * What the model is shown besides the text that starts a task.
     *
     * @param history what was said before, elsewhere; the oldest first
     * @param images shown with the text
     * @param call all that is to be done, without a model: a call that runs or is refused, and is none of the machine's
     *     own; {@code null} = a model is asked
     * @param after what was said after the text, elsewhere, with the results of all tool calls in it; the oldest first
     */
    record Opening(
            List<TranscriptEntry> history,
            List<TranscriptEntry.Image> images,
            @Nullable ToolCall call,
            List<TranscriptEntry> after) {
        /** Nothing. */
        public static final Opening NONE = new Opening(List.of(), List.of());

        public Opening {
            history = List.copyOf(history);
            images = List.copyOf(images);
            // what an older version recorded has none
            after = after == null ? List.of() : List.copyOf(after);
            if (call != null && !(call.route() instanceof ToolCall.Run || call.route() instanceof ToolCall.Refuse)) {
                throw new IllegalArgumentException("expected a call that runs or is refused, found " + call.route());
            }
        }

        /** The text comes last. */
        public Opening(List<TranscriptEntry> history, List<TranscriptEntry.Image> images, @Nullable ToolCall call) {
            this(history, images, call, List.of());
        }

        /** A model is asked. */
        public Opening(List<TranscriptEntry> history, List<TranscriptEntry.Image> images) {
            this(history, images, null);
        }

        /** The beginning of the transcript of a task that starts with this text. */
        List<TranscriptEntry> with(String text) {
            List<TranscriptEntry> entries = new ArrayList<>(history);
            entries.add(new TranscriptEntry.UserText(text, images));
            entries.addAll(after);
            return entries;
        }
    }

    /**
     * There is room for the task: what {@link Effect.RequestAdmission} asked for. Not on any lane and not in the
     * journal, where what follows from it stands.
     *
     * @param sessionUse what the task's session has used so far, this task's own use included; {@link Usage#NONE}
     *     without one
     * @param history what the session has said so far, for a task that is admitted for the first time; {@code null} =
     *     there is no session
     */
    record Admitted(Meta meta, Usage sessionUse, @Nullable SessionHistory history) implements TaskEvent {
        /** Of a task without a session. */
        public Admitted(Meta meta, Usage sessionUse) {
            this(meta, sessionUse, null);
        }
    }

    /**
     * Time has passed: {@link TaskFsm#wakeAt} is reached, by {@link Meta#nowMs}. What is overdue is the machine's
     * business. Not on any lane and not in the journal, where what follows from it stands.
     *
     * @param watchedSinceMs since when somebody has taken answers without a break, in Unix milliseconds: an answer may
     *     have come before that, and is still on its lane
     */
    record TimePassed(Meta meta, long watchedSinceMs) implements TaskEvent {}

    /** The task exists (TASK_CREATED). */
    record TaskCreated(Meta meta) implements TaskEvent {}

    /**
     * The model answered (REASON_DONE).
     *
     * @param callId the call that this answers
     * @param text {@code null} = nothing but tool calls
     * @param calls empty = a direct answer
     * @param sequential whether the calls are to run one after the other; else all at once
     * @param contextWindow tokens that the model takes; {@code null} = nobody says
     * @param continuation what its provider wants to see again with this turn, opaque; {@code null} = nothing
     */
    record ModelReplied(
            Meta meta,
            String callId,
            @Nullable String text,
            List<ToolCall> calls,
            boolean sequential,
            Usage usage,
            @Nullable Long contextWindow,
            @Nullable String continuation)
            implements TaskEvent {
        public ModelReplied {
            calls = List.copyOf(calls);
        }

        /** Of a model of which nobody says what it takes. */
        public ModelReplied(
                Meta meta,
                String callId,
                @Nullable String text,
                List<ToolCall> calls,
                boolean sequential,
                Usage usage) {
            this(meta, callId, text, calls, sequential, usage, null, null);
        }
    }

    /**
     * The model asks the person something (NEED_MORE_INFO).
     *
     * @param callId the call that this answers
     * @param text what it said beside the question; {@code null} = nothing
     * @param toolCallId the provider's id of the tool call by which it asked; {@code null} = it asked in plain words
     * @param calls every tool call of the reply, the asking one among them
     * @param contextWindow tokens that the model takes; {@code null} = nobody says
     * @param continuation what its provider wants to see again with this turn, opaque; {@code null} = nothing
     */
    record QuestionAsked(
            Meta meta,
            String callId,
            String question,
            @Nullable String text,
            @Nullable String toolCallId,
            List<ToolCall> calls,
            Usage usage,
            @Nullable Long contextWindow,
            @Nullable String continuation)
            implements TaskEvent {
        public QuestionAsked {
            calls = List.copyOf(calls);
        }

        /** Of a model of which nobody says what it takes. */
        public QuestionAsked(
                Meta meta,
                String callId,
                String question,
                @Nullable String text,
                @Nullable String toolCallId,
                List<ToolCall> calls,
                Usage usage) {
            this(meta, callId, question, text, toolCallId, calls, usage, null, null);
        }
    }

    /**
     * The model has summed up the older part of the conversation (CONTEXT_COMPACTED).
     *
     * @param callId the call that this answers
     * @param summary never empty
     * @param request the last thing that was said to the task in the part that is summed up, word for word;
     *     {@code null} = nothing was
     */
    record Summarised(
            Meta meta,
            String callId,
            String summary,
            @Nullable String request,
            Usage usage) implements TaskEvent {}

    /**
     * A model call failed for good (MODEL_CALL_FAILED).
     *
     * @param usage what its attempts used nevertheless
     */
    record ModelCallFailed(Meta meta, String callId, TaskError error, Usage usage) implements TaskEvent {

        public ModelCallFailed {
            // what an older version recorded does not say
            usage = usage == null ? Usage.NONE : usage;
        }

        /** One that used nothing, as far as anybody knows. */
        public ModelCallFailed(Meta meta, String callId, TaskError error) {
            this(meta, callId, error, Usage.NONE);
        }
    }

    /** A step that is no tool call is done (STEP_COMPLETED). */
    record StepCompleted(Meta meta, int stepIndex) implements TaskEvent {}

    /**
     * A tool call ended (TOOL_CALL_COMPLETED or TOOL_CALL_FAILED).
     *
     * @param content JSON of the result, or the error's text
     * @param isError whether it failed
     * @param notification what a successful call of {@code notify} or {@code reply} says; {@code null} = this is none
     * @param usage what a child has used; of no meaning for any other call
     */
    record ToolReturned(
            Meta meta,
            String callId,
            String content,
            boolean isError,
            @Nullable Notice notification,
            Usage usage) implements TaskEvent {}

    /**
     * What a task says while it goes on.
     *
     * @param channelId the channel that it is for; {@code null} = its owner
     * @param replyTo the message there that it answers; {@code null} = none
     */
    record Notice(
            String message,
            @Nullable String channelId,
            @Nullable String replyTo) {

        /** The tool whose calls say something to the owner. */
        public static final String TO_OWNER = "notify";
        /** The tool whose calls say something in a channel. */
        public static final String TO_CHANNEL = "reply";

        /** For the owner. */
        public Notice(String message) {
            this(message, null, null);
        }

        /** Whether a call of this tool says it: a worker speaks for nothing but the call that it was given. */
        boolean isOf(String toolName) {
            return toolName.equals(channelId == null ? TO_OWNER : TO_CHANNEL);
        }
    }

    /**
     * A child in the background has ended ({@code background_task.completed} or {@code background_task.failed}).
     *
     * @param callId the call that started it
     * @param news what came of it, for the model
     * @param usage what it has used
     */
    record ChildEnded(Meta meta, String callId, String news, Usage usage) implements TaskEvent {}

    /**
     * A person has decided on a tool call, or its time is over (APPROVAL_DECIDED).
     *
     * @param arguments what to run it with in place of what the model asked for, a JSON object as text; {@code null} =
     *     that
     * @param reason {@code null} = none was given
     * @param decidedBy who, for people; {@code null} = nobody says
     */
    record ApprovalDecided(
            Meta meta,
            String callId,
            boolean approved,
            @Nullable String arguments,
            @Nullable String reason,
            @Nullable String decidedBy)
            implements TaskEvent {}

    /** Someone wants the task to wait (TASK_SUSPENDED). */
    record TaskSuspended(Meta meta, String reason) implements TaskEvent {}

    /**
     * Someone wants the task to go on (TASK_RESUMED).
     *
     * @param newInput what to go on with; {@code null} = from where it stopped, which is no answer to a question and no
     *     decision on a tool call
     * @param more what a completed task may use from now on at most, where its parent says so; else {@link
     *     TaskLimits#UNLIMITED}
     */
    record TaskResumed(Meta meta, @Nullable String newInput, TaskLimits more) implements TaskEvent {}

    /**
     * Someone wants the task to end (TASK_CANCEL_REQUESTED).
     *
     * @param interruption what is kept of it for its session; {@code null} = nothing is said there
     */
    record CancelRequested(
            Meta meta, String reason, @Nullable Interruption interruption) implements TaskEvent {

        /** Nothing is said in the session. */
        public CancelRequested(Meta meta, String reason) {
            this(meta, reason, null);
        }

        /** The same with what the model had said. */
        public CancelRequested after(@Nullable String said) {
            return new CancelRequested(meta, reason, new Interruption(said));
        }
    }

    /**
     * How a person stopped a task while its model spoke.
     *
     * @param said what the model had said in the reply that was cut off; {@code null} = nothing that is known
     */
    record Interruption(@Nullable String said) {}

    /** Someone declares the task failed (TASK_FAILED from outside). */
    record FailureDeclared(Meta meta, TaskError error) implements TaskEvent {}
}
