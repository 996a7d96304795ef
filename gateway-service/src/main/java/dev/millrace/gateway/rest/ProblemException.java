package dev.millrace.gateway.rest;

import dev.millrace.schemas.Problem;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Ends a request with a problem. */
final class ProblemException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;
    private final @Nullable Duration retryAfter;

    ProblemException(Problem problem) {
        this(problem, null);
    }

    /** {@code retryAfter}, rounded to seconds, tells the client when to try again; {@code null} = trying again is no use. */
    ProblemException(Problem problem, @Nullable Duration retryAfter) {
        super(problem.code() + ": " + problem.detail());
        this.problem = problem;
        this.retryAfter = retryAfter;
    }

    Problem problem() {
        return problem;
    }

    @Nullable
    Duration retryAfter() {
        return retryAfter;
    }

    static ProblemException badField(String field, String expected, @Nullable Object found) {
        return new ProblemException(new Problem(
                400,
                "bad_field",
                "A field cannot be read",
                field + ": expected " + expected + ", found " + kind(found),
                Map.of("field", field)));
    }

    static ProblemException badParameter(String name, String expected, String found) {
        return new ProblemException(new Problem(
                400,
                "bad_parameter",
                "A parameter cannot be read",
                name + ": expected " + expected + ", found \"" + found + "\"",
                Map.of("parameter", name)));
    }

    static ProblemException unknownTask(String namespace, String taskId) {
        return new ProblemException(Problem.of(
                404,
                "unknown_task",
                "Unknown task",
                "There is no task " + taskId + " in the namespace " + namespace + "."));
    }

    private static String kind(@Nullable Object value) {
        return switch (value) {
            case null -> "null";
            case String text -> text.isBlank() ? "a blank text" : "a text";
            case Boolean flag -> "true or false";
            case Number number -> "the number " + number;
            case List<?> list -> "a list";
            case Map<?, ?> object -> "an object";
            default -> "something else";
        };
    }
}
