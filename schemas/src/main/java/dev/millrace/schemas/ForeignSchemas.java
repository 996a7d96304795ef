package dev.millrace.schemas;

import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.regex.RegularExpression;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON Schemas (2020-12) that others wrote, such that no {@code pattern} in them takes long. One that RE2 does
 * not know ({@link LinearPattern}), with lookaround for one, is tried with the JDK's expressions and given up after a
 * while; a text that could not be checked counts as one that fits.
 */
final class ForeignSchemas {

    /** For the schemas of operators and their agents. */
    static final SchemaRegistry TRUSTED = registry(JdkPattern::of);

    private static final SchemaRegistry STRANGE = registry(regex -> text -> true);

    private static final ThreadLocal<@Nullable StepBudget> BUDGET = new ThreadLocal<>();

    private ForeignSchemas() {}

    /**
     * For schemas that no operator has seen, such as those of MCP servers: what RE2 does not know is not even tried,
     * since there are expressions that the JDK can be kept from by nothing.
     */
    static SchemaRegistry ofStrangers() {
        return STRANGE;
    }

    private static SchemaRegistry registry(com.networknt.schema.regex.RegularExpressionFactory otherwise) {
        SchemaRegistryConfig config = SchemaRegistryConfig.builder()
                .regularExpressionFactory(regex -> {
                    try {
                        return limited(LinearPattern.of(regex));
                    } catch (IllegalArgumentException e) {
                        return otherwise.getRegularExpression(regex);
                    }
                })
                .build();
        return SchemaRegistry.withDefaultDialect(
                SpecificationVersion.DRAFT_2020_12, builder -> builder.schemaRegistryConfig(config));
    }

    /** Work of this thread that may cost so much: what its patterns cost is taken off the budget. */
    static <T> T within(StepBudget budget, Supplier<T> work) {
        BUDGET.set(budget);
        try {
            return work.get();
        } finally {
            BUDGET.remove();
        }
    }

    private static RegularExpression limited(LinearPattern pattern) {
        spend(pattern.size());
        return text -> {
            spend(pattern.size() * text.length() / StepBudget.PATTERN_CHARACTERS);
            return pattern.isIn(text);
        };
    }

    private static void spend(long steps) {
        StepBudget budget = BUDGET.get();
        if (budget != null) {
            budget.spend(steps);
        }
    }

    /** An expression of the JDK's that looks at so many characters and no more. */
    private record JdkPattern(Pattern pattern) implements RegularExpression {

        private static final int MAX_LOOKS = 1_000_000;

        static RegularExpression of(String regex) {
            try {
                return new JdkPattern(Pattern.compile(regex));
            } catch (PatternSyntaxException e) {
                throw new IllegalArgumentException(
                        "pattern: expected a regular expression, found one with: " + e.getDescription(), e);
            }
        }

        @Override
        public boolean matches(String text) {
            Matcher matcher = pattern.matcher(new Watched(text, new int[1]));
            try {
                return matcher.find();
            } catch (EnoughException | StackOverflowError e) {
                return true;
            }
        }

        private static final class EnoughException extends RuntimeException {
            private static final long serialVersionUID = 1L;

            EnoughException() {
                super("", null, false, false);
            }
        }

        @SuppressWarnings("ArrayRecordComponent") // never compared
        private record Watched(CharSequence text, int[] looks) implements CharSequence {

            @Override
            public char charAt(int index) {
                if (++looks[0] > MAX_LOOKS) {
                    throw new EnoughException();
                }
                return text.charAt(index);
            }

            @Override
            public int length() {
                return text.length();
            }

            @Override
            public CharSequence subSequence(int start, int end) {
                return new Watched(text.subSequence(start, end), looks);
            }

            @Override
            public String toString() {
                return text.toString();
            }
        }
    }
}
