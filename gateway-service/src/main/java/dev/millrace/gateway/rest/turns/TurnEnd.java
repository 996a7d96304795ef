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

    /** The task does not take what the turn was to begin with: somebody else's answer or decision was first. */
    record NotTaken() implements TurnEnd {
        public static final String CODE = "not_taken";

        /** What its sender is told. */
        public static String words(String taskId) {
            return "Somebody else was first: task " + taskId
                    + " goes on with another answer or decision, and does not take this one.";
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
