package dev.millrace.llm.scripted;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.llm.scripted.ScriptYaml.WrongKeyException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

        @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
        static Failed read(JsonNode node) {
            if (node.isBoolean()) {
                return new Failed(node.asBoolean(), List.of());
            }
            if (!node.isArray() || !node.valueStream().allMatch(JsonNode::isTextual)) {
                throw new IllegalArgumentException(
                        "expected true or false, or a list of texts, found " + ScriptYaml.kind(node));
            }
            return new Failed(null, node.valueStream().map(JsonNode::asText).toList());
        }

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
            @Nullable Integer rounds,
            @Nullable Failed failed,
            List<String> tools,
            @Nullable String request) {

        Condition {
            tools = tools == null ? List.of() : List.copyOf(tools);
        }

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
     * @param latencyMs how long the model takes to its first word; null = no time
     * @param stream how it is streamed; null = as the script says
     * @param usage null = estimated
     * @param finishReason null = what follows from the reply
     */
    record Reply(
            @Nullable Template text,
            @Nullable Template reasoning,
            List<Call> calls,
            @Nullable Latency latencyMs,
            @Nullable Chunking stream,
            @Nullable Tokens usage,
            @Nullable Fault fail,
            @Nullable FinishReason finishReason) {

        Reply {
            calls = calls == null ? List.of() : List.copyOf(calls);
            boolean says = text != null || !calls.isEmpty();
            if (fail == null && !says) {
                throw new IllegalArgumentException("expected text, calls or fail, found none of them");
            }
            if (fail != null && fail.afterChars() != null && text == null) {
                throw new WrongKeyException(
                        "fail", "with afterChars it breaks off a text, so there must be one beside it");
            }
            if (fail != null && (fail.times() != null || fail.afterChars() != null) != says) {
                throw new WrongKeyException(
                        "fail",
                        says
                                ? "without times it fails for ever, so the text or calls beside it are never reached"
                                : "with times it ends, so there must be text or calls beside it");
            }
        }

        /** The same, with what the script says as a whole where this reply says nothing. */
        Reply orElse(@Nullable Latency latency, Chunking chunking) {
            return new Reply(
                    text,
                    reasoning,
                    calls,
                    latencyMs == null ? latency : latencyMs,
                    stream == null ? chunking : stream,
                    usage,
                    fail,
                    finishReason);
        }
    }

    /**
     * A tool call.
     *
     * @param malformedArguments stands in for the arguments; null in the ordinary case
     */
    record Call(
            String tool,
            Map<String, ScriptValue> arguments,
            @Nullable String malformedArguments) {

        Call {
            if (tool == null || tool.isBlank()) {
                throw new WrongKeyException("tool", "expected a text, found nothing");
            }
            if (arguments != null && malformedArguments != null) {
                throw new WrongKeyException("malformedArguments", "there are arguments already");
            }
            arguments = arguments == null ? Map.of() : Collections.unmodifiableMap(arguments);
        }
    }

    /** What a call is said to have used. */
    record Tokens(
            Integer inputTokens,
            Integer outputTokens,
            @Nullable Integer cachedInputTokens,
            @Nullable Integer reasoningTokens) {

        Tokens {
            if (inputTokens == null || outputTokens == null) {
                throw new IllegalArgumentException("expected inputTokens and outputTokens");
            }
        }

        Usage usage() {
            return new Usage(
                    inputTokens,
                    outputTokens,
                    Objects.requireNonNullElse(cachedInputTokens, 0),
                    0,
                    Objects.requireNonNullElse(reasoningTokens, 0),
                    null);
        }
    }

    /**
     * A failure.
     *
     * @param times how many attempts fail; null = all
     * @param per what counts as one series of attempts
     * @param afterChars how much of the text is streamed before it fails; null = nothing of the reply
     * @param hang whether the model goes silent instead of failing
     */
    record Fault(
            ModelErrorCode code,
            String message,
            Boolean retryable,
            @Nullable Integer retryAfterMs,
            @Nullable Integer times,
            Scope per,
            @Nullable Integer afterChars,
            boolean hang) {

        Fault {
            if (code == null && !hang) {
                throw new WrongKeyException("code", "expected a text, found nothing");
            }
            code = code == null ? ModelErrorCode.TIMEOUT : code;
            message = message == null ? "the script says so" : message;
            retryable = retryable == null ? Boolean.valueOf(code.retryable()) : retryable;
            per = per == null ? Scope.CALL : per;
        }
    }

    /** What {@code times} counts. */
    enum Scope {
        /** The attempts of each call on their own. */
        CALL,
        /** All attempts since the model was made. */
        PROCESS
    }

    /** A rule that fits, with the match of its user pattern. */
    record Match(ScriptRule rule, int place, @Nullable Matcher user) {

        Reply reply() {
            return rule.replies().get(place);
        }

        /** What tells this reply apart from all others of the script. */
        String key() {
            return rule.name() + '[' + place + ']';
        }
    }

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
        return place < 0 ? null : new Match(this, place, user);
    }
}
