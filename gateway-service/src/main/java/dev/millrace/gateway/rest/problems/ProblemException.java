package dev.millrace.gateway.rest.problems;

import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.Problem;
import dev.millrace.schemas.Spelling;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Ends a request with a problem. */
public final class ProblemException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    /** So many names are told at once, and so many characters of each. */
    private static final int MAX_NAMES = 10;

    private static final int MAX_NAME = 100;

    private final transient Problem problem;
    private final @Nullable Duration retryAfter;

    public ProblemException(Problem problem) {
        this(problem, null);
    }

    /**
     * {@code retryAfter}, rounded to seconds, tells the client when to try again; {@code null} = trying again is no
     * use.
     */
    public ProblemException(Problem problem, @Nullable Duration retryAfter) {
        super(problem.code() + ": " + problem.detail());
        this.problem = problem;
        this.retryAfter = retryAfter;
    }

    public Problem problem() {
        return problem;
    }

    @Nullable
    public Duration retryAfter() {
        return retryAfter;
    }

    public static ProblemException badField(String field, String expected, @Nullable Object found) {
        return new ProblemException(new Problem(
                400,
                "bad_field",
                "A field cannot be read",
                field + ": expected " + expected + ", found " + kind(found),
                Map.of("field", field)));
    }

    /** A value has characters that none may have, or is too long, as the exception says. */
    public static ProblemException unreadable(IllegalArgumentException e) {
        return new ProblemException(
                Problem.of(400, "bad_field", "A field cannot be read", String.valueOf(e.getMessage())));
    }

    public static ProblemException badParameter(String name, String expected, String found) {
        return new ProblemException(new Problem(
                400,
                "bad_parameter",
                "A parameter cannot be read",
                name + ": expected " + expected + ", found \"" + found + "\"",
                Map.of("parameter", name)));
    }

    /**
     * What has a name that is not known.
     *
     * @param code of the problem
     * @param word for one of them, for people
     * @param member of the problem that names them
     */
    public record Kind(String code, String word, String member) {}

    /**
     * Names that nothing here has, each with the nearest one that there is, or with all of them.
     *
     * @param unknown at least one
     * @param where they stand, for people, with a blank before it; may be empty
     */
    public static ProblemException unknownNames(
            Kind kind, Collection<String> unknown, SortedSet<String> known, String where) {
        String detail = unknown.stream()
                .limit(MAX_NAMES)
                .map(name -> "Unknown " + kind.word() + " `" + JsonText.cut(name, MAX_NAME) + "`" + where
                        + nearest(name, known))
                .collect(Collectors.joining(" "));
        return new ProblemException(new Problem(
                400,
                kind.code(),
                "Unknown " + kind.word(),
                detail,
                Map.of(
                        kind.member(),
                        unknown.stream()
                                .limit(MAX_NAMES)
                                .map(name -> JsonText.cut(name, MAX_NAME))
                                .toList())));
    }

    private static String nearest(String name, SortedSet<String> known) {
        // the agent of a task has two names, and not every way in knows both
        if (name.equals("agent") && known.contains("taskType")) {
            return "; did you mean `taskType`?";
        }
        return Spelling.nearest(name, known)
                .map(other -> "; did you mean `" + other + "`?")
                .orElse(known.isEmpty() ? "; there are none." : "; there are " + String.join(", ", known) + ".");
    }

    public static ProblemException unknownTask(String namespace, String taskId) {
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
            default -> "an object";
        };
    }
}
