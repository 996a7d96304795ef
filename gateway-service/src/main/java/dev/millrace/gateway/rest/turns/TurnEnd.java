package dev.millrace.gateway.rest.turns;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.Payload;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Why a turn is over: the task has ended, or needs somebody. */
public sealed interface TurnEnd {

    /** The task has its answer; {@code finishReason} is that of the last model call. */
    record Answered(String text, @Nullable String finishReason) implements TurnEnd {}

    /** The task has failed; {@code code} is one of docs/events.md. */
    record Failed(String code, String error) implements TurnEnd {}

    /** Somebody has cancelled the task. */
    record Cancelled(@Nullable String reason) implements TurnEnd {}

    /**
     * The task has not taken what the turn was to begin with.
     *
     * @param never whether it never will, since somebody else's answer or decision was first, or the time for it is
     *     over; if not, nobody knows
     */
    record NotTaken(boolean never) implements TurnEnd {
        public static final String CODE = "not_taken";

        /** What its sender is told. */
        public String words(String taskId) {
            return "Task " + taskId
                    + (never
                            ? " does not take this answer or decision: another one was first, or the time for it is over."
                            : " has not taken this answer or decision so far. It never will if another one was first;"
                                    + " else it goes on with this one later, so do not send it again before you have"
                                    + " looked at the task.");
        }
    }

    /** The agent asks its user this. */
    record Asked(String question) implements TurnEnd {}

    /** These tool calls wait for a person; there is at least one. */
    record NeedsApproval(List<Payload.ApprovalRequested> calls) implements TurnEnd {
        public NeedsApproval {
            calls = List.copyOf(calls);
        }

        /** What a person is asked about one of them. */
        public static String question(Payload.ApprovalRequested call) {
            return "May the agent do this? " + words(call);
        }

        /** What a call would do. */
        public static String words(Payload.ApprovalRequested call) {
            return call.toolName() + " " + Json.writeText(call.params());
        }
    }
}
