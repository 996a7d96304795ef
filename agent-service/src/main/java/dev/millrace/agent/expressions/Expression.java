package dev.millrace.agent.expressions;

import dev.millrace.schemas.JsonObject;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
 * An expression in the Common Expression Language (CEL) that is true or false: compiled once, then asked from any
 * thread. It cannot loop for ever or reach out of itself, and what it may cost is limited.
 */
public final class Expression {

    /**
     * The longest text of all values together that is looked at, in characters: some operators read it several times.
     */
    public static final int MAX_CHARS = 100_000;
    /** Steps of one evaluation, that is operators applied: a few milliseconds. */
    public static final int MAX_STEPS = 20_000;

    private final String text;
    private final Program program;
    private final ThreadLocal<int[]> steps = ThreadLocal.withInitial(() -> new int[1]);

    private Expression(String text, Names names, Ast ast) {
        this.text = text;
        program = names.environment.program(
                ast, ProgramOption.customDecorator(InterpretableDecorator.decObserveEval((id, value) -> step())));
    }

    /** What expressions of one kind may be about. */
    public static final class Names {
        private final Env environment;

        private Names(Env environment) {
            this.environment = environment;
        }

        /**
         * These names.
         *
         * @param texts stand for texts
         * @param objects stand for JSON objects
         */
        public static Names of(List<String> texts, List<String> objects) {
            return new Names(Env.newEnv(EnvOption.declarations(Stream.concat(
                            texts.stream().map(name -> Decls.newVar(name, Decls.String)),
                            objects.stream().map(name -> Decls.newVar(name, Decls.newMapType(Decls.String, Decls.Dyn))))
                    .toList())));
        }
    }

    /**
     * Compiles and checks an expression.
     *
     * @throws IllegalArgumentException if it is none, or its value is no truth value; the message says where and why
     */
    public static Expression compile(Names names, String text) {
        Ast parsed = withoutIssues(names.environment.parse(text));
        Ast checked = withoutIssues(names.environment.check(parsed));
        Type type = checked.getResultType();
        if (!type.equals(Decls.Bool) && !type.equals(Decls.Dyn)) {
            throw new IllegalArgumentException(
                    "expected an expression that is true or false, found one that is neither");
        }
        return new Expression(text, names, checked);
    }

    private static Ast withoutIssues(Env.AstIssuesTuple result) {
        if (result.hasIssues()) {
            throw new IllegalArgumentException(result.getIssues().getErrors().stream()
                    .map(Expression::words)
                    .collect(Collectors.joining("; ")));
        }
        return result.getAst();
    }

    private static String words(CELError error) {
        return error.getMessage() + " (line " + error.getLocation().line() + ", column "
                + (error.getLocation().column() + 1) + ")";
    }

    /**
     * Whether it holds.
     *
     * @param values JSON values by the names, {@link #MAX_CHARS} at most
     * @throws UndecidableException if that cannot be said
     */
    public boolean holds(JsonObject values) throws UndecidableException {
        Val value;
        steps.get()[0] = 0;
        try {
            Map<String, @Nullable Object> plain = new LinkedHashMap<>();
            values.forEach((name, part) -> plain.put(name, plain(part)));
            value = program.eval(plain).getVal();
        } catch (RuntimeException e) {
            // whatever the interpreter stumbles over, the limit below among it
            throw new UndecidableException(String.valueOf(e.getMessage()), steps.get()[0] > MAX_STEPS);
        }
        if (value instanceof BoolT answer) {
            return answer.booleanValue();
        }
        throw new UndecidableException("expected true or false, found " + value, false);
    }

    private void step() {
        if (++steps.get()[0] > MAX_STEPS) {
            throw new IllegalStateException("the expression takes more than " + MAX_STEPS + " steps");
        }
    }

    /** As it was written. */
    public String text() {
        return text;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Expression that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
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

    /** The length of all texts in a JSON value. */
    public static int chars(@Nullable Object value) {
        return switch (value) {
            case Map<?, ?> object ->
                object.entrySet().stream()
                        .mapToInt(field -> chars(field.getKey()) + chars(field.getValue()))
                        .sum();
            case List<?> list -> list.stream().mapToInt(Expression::chars).sum();
            case String text -> text.length() + 1;
            case null -> 1;
            default -> 1;
        };
    }
}
