package dev.millrace.agent.approval;

import dev.millrace.agent.expressions.Expression;
import dev.millrace.agent.expressions.UndecidableException;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
import java.util.List;

/**
 * A condition on a tool call in the Common Expression Language (CEL), over {@code args}, {@code tool}, {@code agent}
 * and {@code tenant} (the namespace, which is a reserved word there): compiled once, then asked from any thread. It
 * cannot loop for ever or reach out of itself, and what it may cost is limited: a call whose arguments are too large,
 * or whose evaluation takes too many steps, has no answer.
 */
final class Condition {

    /**
     * The longest text of all arguments together that is looked at, in characters: some operators read it several
     * times.
     */
    static final int MAX_ARGUMENT_CHARS = Expression.MAX_CHARS;
    /** Steps of one evaluation, that is operators applied: a few milliseconds. */
    static final int MAX_STEPS = Expression.MAX_STEPS;

    private static final Expression.Names NAMES =
            Expression.Names.of(List.of("tool", "agent", "tenant"), List.of("args"));

    private static final int MAX_WORDS = 100;

    private final Expression expression;
    private final Mentions mentions;

    private Condition(Expression expression) {
        this.expression = expression;
        this.mentions = new Mentions(expression.text());
    }

    /**
     * A tool call to ask about.
     *
     * @param arguments JSON values
     */
    record Call(String agent, String namespace, String toolName, JsonObject arguments) {}

    /**
     * Compiles and checks an expression.
     *
     * @throws IllegalArgumentException if it is none, or its value is no truth value; the message says where and why
     */
    static Condition compile(String expression) {
        return new Condition(Expression.compile(NAMES, expression));
    }

    /**
     * Whether the condition holds.
     *
     * @throws UndecidedException if that cannot be said
     */
    boolean holds(Call call) throws UndecidedException {
        int chars = Expression.chars(call.arguments());
        if (chars > MAX_ARGUMENT_CHARS) {
            throw new UndecidedException(
                    "expected arguments of at most " + MAX_ARGUMENT_CHARS + " characters, found " + chars, "");
        }
        try {
            return expression.holds(JsonObject.builder()
                    .put("args", call.arguments())
                    .put("tool", call.toolName())
                    .put("agent", call.agent())
                    .put("tenant", call.namespace())
                    .build());
        } catch (UndecidableException e) {
            throw new UndecidedException(
                    String.valueOf(e.getMessage()), e.tooCostly() ? "" : mentions.in(call.arguments()));
        }
    }

    /** It cannot be said whether a condition holds. */
    static final class UndecidedException extends Exception {
        private static final long serialVersionUID = 1L;

        private final String found;

        /**
         * For a reason, which is logged.
         *
         * @param found what the arguments are that the condition looks at, which is not logged; may be empty
         */
        UndecidedException(String message, String found) {
            super(message);
            this.found = found;
        }

        /** For the person who is asked. */
        String words() {
            String cause = JsonText.cut(String.valueOf(getMessage()), MAX_WORDS);
            return (found.isEmpty() ? cause : found + " (" + cause + ")").replaceAll("\\p{Cntrl}", "?");
        }
    }
}
