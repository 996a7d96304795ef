package dev.millrace.llm.scripted;

import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply.Usage;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What to reply to which turn.
 *
 * @param name for error messages, unique within the script
 * @param steps with {@code stepwise}, one reply per round of tool calls, and none after the last; else the one reply
 */
record ScriptRule(String name, Condition when, boolean stepwise, List<Reply> steps) {

    /**
     * Which turns a rule is for; whatever is null does not matter.
     *
     * @param user found in the latest user message
     * @param system found in the system message
     * @param after the tools that have returned since the user's message, exactly, in order
     * @param rounds how many times tools were called since the user's message
     * @param failed whether the latest tool result is an error
     * @param tools all of these are offered; empty = does not matter
     */
    record Condition(
            @Nullable Pattern user,
            @Nullable Pattern system,
            @Nullable List<String> after,
            @Nullable Long rounds,
            @Nullable Boolean failed,
            List<String> tools) {

        /** Whether everything but the user's words fits. */
        boolean holds(Turn turn) {
            return (rounds == null || rounds == turn.rounds())
                    && (after == null || after.equals(turn.resultTools()))
                    && (failed == null || failed == turn.failed())
                    && turn.offered().containsAll(tools)
                    && (system == null || system.matcher(turn.system()).find());
        }
    }

    /**
     * One reply: a fault, or text and calls, or a fault that goes away and then text and calls.
     *
     * @param latency how long the model takes; null = as the script says
     * @param usage null = estimated
     * @param finishReason null = what follows from the reply
     */
    record Reply(
            @Nullable Template text,
            @Nullable Template reasoning,
            List<Call> calls,
            @Nullable Duration latency,
            @Nullable Usage usage,
            @Nullable Fault fail,
            @Nullable FinishReason finishReason) {}

    /**
     * A tool call.
     *
     * @param malformedArguments stands in for the arguments; null in the ordinary case
     */
    record Call(
            String tool,
            ScriptValue.Members arguments,
            @Nullable String malformedArguments) {}

    /**
     * A failure.
     *
     * @param key tells this fault apart from the others of the script
     * @param times how many attempts fail; null = all
     * @param per what counts as one series of attempts
     */
    record Fault(
            String key,
            ModelErrorCode code,
            String message,
            boolean retryable,
            @Nullable Duration retryAfter,
            @Nullable Long times,
            Scope per) {}

    /** What {@code times} counts. */
    enum Scope {
        /** The attempts of each call on their own. */
        CALL,
        /** All attempts since the model was made. */
        PROCESS
    }

    /** A rule that fits, with the match of its user pattern. */
    record Match(ScriptRule rule, Reply reply, @Nullable Matcher user) {}

    /** Null if this rule is not for the turn. */
    @Nullable
    Match match(Turn turn) {
        int step = stepwise ? turn.rounds() : 0;
        if (step >= steps.size() || !when.holds(turn)) {
            return null;
        }
        Matcher user = when.user == null ? null : when.user.matcher(turn.user());
        return user == null || user.find() ? new Match(this, steps.get(step), user) : null;
    }
}
