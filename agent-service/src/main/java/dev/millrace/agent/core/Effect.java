package dev.millrace.agent.core;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is to be done because of a transition; carried out in order by the shell, in one transaction with the new state.
 */
public sealed interface Effect {

    /** Append to the transcript, starting at this position. */
    record Append(int seq, List<TranscriptEntry> entries) implements Effect {
        public Append {
            entries = List.copyOf(entries);
        }
    }

    /** Call the model with the transcript as it stands after this transition. */
    record CallModel(String callId, int iteration) implements Effect {}

    /**
     * Have the model sum up what it is shown of the transcript before this position.
     *
     * @param iteration the number of the model call that the room is needed for
     */
    record Summarise(String callId, int iteration, int before) implements Effect {}

    /** Forget this model call: its reply has been taken, or nobody waits for it any more. */
    record SettleModelCall(String callId) implements Effect {}

    /** Request a tool call from the workers of its toolset. */
    record CallTool(
            String callId,
            int stepIndex,
            String toolCallId,
            String toolName,
            String arguments,
            String toolset,
            long timeoutMs)
            implements Effect {}

    /** Put the task in line for a place; {@link TaskEvent.Admitted} answers it when its turn has come. */
    record RequestAdmission() implements Effect {}

    /**
     * Start a task, as this one's child.
     *
     * @param childId its id, which follows from the call's
     * @param limits what it may use at most: a share of what its parent has left
     * @param errand how it works apart; {@code null} = as a part of this one
     */
    record StartChild(
            String callId,
            String childId,
            String taskType,
            String input,
            boolean background,
            TaskLimits limits,
            ToolCall.@Nullable Errand errand)
            implements Effect {}

    /**
     * Let a child go on that has completed.
     *
     * @param childId the task that the model takes for its child; whether it is one, its own row says
     * @param limits what it may use from now on at most
     */
    record ResumeChild(String callId, String childId, String input, TaskLimits limits) implements Effect {}

    /** Cancel a child. */
    record CancelChild(String childId, String reason) implements Effect {}

    /** Record this fact in the journal. */
    record Publish(Fact fact) implements Effect {}

    /** Record this fact in the journal and let the machine take it as its next event, in the same transaction. */
    record FollowUp(Fact.Consequence fact) implements Effect {}

    /** Nothing: the event had no business here. Always the only effect, and the state is unchanged. */
    record Discard(String eventId, DiscardReason reason) implements Effect {}
}
