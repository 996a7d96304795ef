package dev.millrace.gateway.rest.turns;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Payload;
import org.jspecify.annotations.Nullable;

/** What happens in a turn, in the order in which it is told. */
public sealed interface TurnPart {

    /** Which one it is, 0 = the first. Follows from the journal alone, so it is the same wherever the turn is told. */
    long step();

    /** What the turn begins with; {@code taskId} is the task that it is a turn of. */
    record Began(long step, Event event, String taskId) implements TurnPart {}

    /**
     * More of a text.
     *
     * @param attempt of the model call, 1 or more
     * @param from how much of the text there was before, in characters
     */
    record Words(long step, long attempt, int from, String delta) implements TurnPart {
        /** How much of the text there is with it, in characters. */
        public int end() {
            return from + delta.length();
        }
    }

    /** The words of this attempt do not count: another one follows in the same step, or nothing. */
    record Withdrawn(long step, long attempt, String text) implements TurnPart {}

    /** All that was said; {@code last} = without asking for tools. */
    record Said(long step, long attempt, String text, boolean last) implements TurnPart {}

    /** A tool call begins. */
    record ToolBegan(long step, String callId, String toolName, JsonObject params) implements TurnPart {}

    /**
     * A tool call has come to its end.
     *
     * @param error {@code null} = it went well
     */
    record ToolEnded(
            long step,
            String callId,
            String toolName,
            @Nullable Object result,
            @Nullable String error) implements TurnPart {}

    /** The turn is over. */
    record Over(long step, TurnEnd end, Payload.Usage usage) implements TurnPart {}
}
