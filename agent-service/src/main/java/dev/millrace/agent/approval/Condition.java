package dev.millrace.agent.approval;

import dev.millrace.schemas.JsonText;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.projectnessie.cel.Ast;
import org.projectnessie.cel.Env;
import org.projectnessie.cel.EnvOption;
import org.projectnessie.cel.Program;
import org.projectnessie.cel.ProgramOption;
import org.projectnessie.cel.checker.Decls;
import org.projectnessie.cel.common.CELError;
import org.projectnessie.cel.common.types.BoolT;
import org.projectnessie.cel.common.types.ref.Val;
import org.projectnessie.cel.interpreter.InterpretableDecorator;
import org.projectnessie.cel.relocated.com.google.api.expr.v1alpha1.Type;

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
    static final int MAX_ARGUMENT_CHARS = 100_000;
    /** Steps of one evaluation, that is operators applied: a few milliseconds. */
    static final int MAX_STEPS = 20_000;

    private static final Env ENVIRONMENT = Env.newEnv(EnvOption.declarations(
            Decls.newVar("args", Decls.newMapType(Decls.String, Decls.Dyn)),
            Decls.newVar("tool", Decls.String),
            Decls.newVar("agent", Decls.String),
            Decls.newVar("tenant", Decls.String)));

    private static final int MAX_WORDS = 100;

    private final Program program;
    private final Mentions mentions;
    private final ThreadLocal<int[]> steps = ThreadLocal.withInitial(() -> new int[1]);

    private Condition(String expression, Ast ast) {
        mentions = new Mentions(expression);
        program = ENVIRONMENT.program(
                ast, ProgramOption.customDecorator(InterpretableDecorator.decObserveEval((id, value) -> step())));
    }

    /**
     * A tool call to ask about.
     *
     * @param arguments JSON values
     */
    record Call(String agent, String namespace, String toolName, Map<String, @Nullable Object> arguments) {}

    /**
     * Compiles and checks an expression.
     *
     * @throws IllegalArgumentException if it is none, or its value is no truth value; the message says where and why
     */
    static Condition compile(String expression) {
        Ast parsed = withoutIssues(ENVIRONMENT.parse(expression));
        Ast checked = withoutIssues(ENVIRONMENT.check(parsed));
        Type type = checked.getResultType();
        if (!type.equals(Decls.Bool) && !type.equals(Decls.Dyn)) {
            throw new IllegalArgumentException(
                    "expected an expression that is true or false, found one that is neither");
        }
        return new Condition(expression, checked);
    }

    private static Ast withoutIssues(Env.AstIssuesTuple result) {
        if (result.hasIssues()) {
            throw new IllegalArgumentException(result.getIssues().getErrors().stream()
                    .map(Condition::words)
                    .collect(Collectors.joining("; ")));
        }
        return result.getAst();
    }

    /**
     * Whether the condition holds.
     *
     * @throws UndecidedException if that cannot be said
     */
    boolean holds(Call call) throws UndecidedException {
        int chars = chars(call.arguments());
        if (chars > MAX_ARGUMENT_CHARS) {
            throw new UndecidedException(
                    "expected arguments of at most " + MAX_ARGUMENT_CHARS + " characters, found " + chars, "");
        }
        Val value = value(call);
        if (value instanceof BoolT answer) {
            return answer.booleanValue();
        }
        throw new UndecidedException("expected true or false, found " + value, mentions.in(call.arguments()));
    }

    private Val value(Call call) throws UndecidedException {
        steps.get()[0] = 0;
        try {
            return program.eval(Map.of(
                            "args",
                            plain(call.arguments()),
                            "tool",
                            call.toolName(),
                            "agent",
                            call.agent(),
                            "tenant",
                            call.namespace()))
                    .getVal();
        } catch (RuntimeException e) {
            // whatever the interpreter stumbles over, the limit below among it: the call is asked for
            throw new UndecidedException(
                    String.valueOf(e.getMessage()), steps.get()[0] > MAX_STEPS ? "" : mentions.in(call.arguments()));
        }
    }

    private void step() {
        if (++steps.get()[0] > MAX_STEPS) {
            throw new IllegalStateException("the expression takes more than " + MAX_STEPS + " steps");
        }
    }

    private static String words(CELError error) {
        return error.getMessage() + " (line " + error.getLocation().line() + ", column "
                + (error.getLocation().column() + 1) + ")";
    }

    /** JSON values as the language knows them: it has whole numbers of 64 bits and floating point ones. */
    private static @Nullable Object plain(@Nullable Object value) {
        return switch (value) {
            case Map<?, ?> object -> {
                Map<Object, @Nullable Object> copy = new LinkedHashMap<>();
                object.forEach((name, inner) -> copy.put(name, plain(inner)));
                yield copy;
            }
            case List<?> list -> {
                List<@Nullable Object> copy = new ArrayList<>(list.size());
                list.forEach(inner -> copy.add(plain(inner)));
                yield copy;
            }
            case Integer number -> number.longValue();
            case BigInteger number -> number.doubleValue();
            case BigDecimal number -> number.doubleValue();
            case null -> null;
            default -> value;
        };
    }

    private static int chars(@Nullable Object value) {
        return switch (value) {
            case Map<?, ?> object ->
                object.entrySet().stream()
                        .mapToInt(field -> chars(field.getKey()) + chars(field.getValue()))
                        .sum();
            case List<?> list -> list.stream().mapToInt(Condition::chars).sum();
            case String text -> text.length() + 1;
            case null -> 1;
            default -> 1;
        };
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
