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
 * @param replies at least one; after the last the rule does not fit any more
 */
record ScriptRule(String name, Condition when, Order order, List<Reply> replies) {

    /** What leads from one reply to the next. */
    enum Order {
        /** Nothing: there is one reply. */
        ONE,
        /** A round of tool calls since the user's message. */
        ROUNDS,
        /** Another model call, since the model was made. */
        CALLS
    }

    /**
     * What a rule wants to have failed.
     *
     * @param latest whether the latest tool result is an error; null = does not matter
     * @param tools the latest result of each is an error; empty = does not matter
     */
    record Failed(@Nullable Boolean latest, List<String> tools) {
        boolean holds(Turn turn) {
            return (latest == null || latest == turn.failed()) && tools.stream().allMatch(turn::failed);
        }
    }

    /**
     * Which turns a rule is for; whatever is null does not matter.
     *
     * @param user found in the latest user message
     * @param system found in the system message
     * @param after the tools that have returned since the user's message, exactly, in order
     * @param rounds how many times tools were called since the user's message
     * @param failed which calls have failed
     * @param tools all of these are offered; empty = does not matter
     * @param request the fingerprint of the whole request
     */
    record Condition(
            @Nullable Pattern user,
            @Nullable Pattern system,
            @Nullable List<String> after,
            @Nullable Long rounds,
            @Nullable Failed failed,
            List<String> tools,
            @Nullable String request) {

        /** Always. */
        static final Condition ALWAYS = new Condition(null, null, null, null, null, List.of(), null);

        /** Whether everything but the user's words fits. */
        boolean holds(Turn turn) {
            return (rounds == null || rounds == turn.rounds())
                    && (request == null || request.equals(turn.fingerprint()))
                    && (after == null || after.equals(turn.resultTools()))
                    && (failed == null || failed.holds(turn))
                    && turn.offered().containsAll(tools)
                    && (system == null || system.matcher(turn.system()).find());
        }
    }

    /**
     * One reply: a fault, or text and calls, or a fault that goes away and then text and calls.
     *
     * @param latency how long the model takes to its first word; null = no time
     * @param chunking how it is streamed
     * @param usage null = estimated
     * @param finishReason null = what follows from the reply
     */
    record Reply(
            @Nullable Template text,
            @Nullable Template reasoning,
            List<Call> calls,
            @Nullable Latency latency,
            Chunking chunking,
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
     * @param afterChars how much of the text is streamed before it fails; null = nothing of the reply
     * @param hang whether the model goes silent instead of failing
     */
    record Fault(
            String key,
            ModelErrorCode code,
            String message,
            boolean retryable,
            @Nullable Duration retryAfter,
            @Nullable Long times,
            Scope per,
            @Nullable Long afterChars,
            boolean hang) {}

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
    Match match(Turn turn, Series series) {
        if (!when.holds(turn)) {
            return null;
        }
        Matcher user = when.user == null ? null : when.user.matcher(turn.user());
        if (user != null && !user.find()) {
            return null;
        }
        int place =
                switch (order) {
                    case ONE -> 0;
                    case ROUNDS -> turn.rounds() < replies.size() ? turn.rounds() : -1;
                    case CALLS -> series.place(name, turn.callId(), replies.size());
                };
        return place < 0 ? null : new Match(this, replies.get(place), user);
    }
}
