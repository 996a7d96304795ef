package dev.millrace.tools;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A tool's "no": an ordinary result, which the model reads. */
public final class ToolException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String code;
    private final Again again;
    private final @Nullable Duration retryAfter;

    /** Whether the same call may work another time. */
    public enum Again {
        /** It will fail again. */
        NEVER,
        /** It may work, but it may also have been carried out already. */
        UNCERTAIN,
        /** It may work, and nothing has been done so far. */
        PASSING
    }

    /**
     * Says no, for good.
     *
     * @param code a stable word, lower snake case, such as {@code file_not_found}
     * @param message what was expected and found, for a model
     */
    public ToolException(String code, String message) {
        this(code, message, Again.NEVER, null);
    }

    private ToolException(String code, String message, Again again, @Nullable Duration retryAfter) {
        super(message);
        this.code = code;
        this.again = again;
        this.retryAfter = retryAfter;
    }

    /**
     * Says no for now: nothing has been done.
     *
     * @param retryAfter when somebody said that it would work; {@code null} = nobody did
     */
    public static ToolException passing(String code, String message, @Nullable Duration retryAfter) {
        return new ToolException(code, message, Again.PASSING, retryAfter);
    }

    /** Says that it is not known whether it was done. */
    public static ToolException uncertain(String code, String message) {
        return new ToolException(code, message, Again.UNCERTAIN, null);
    }

    /** A stable word, lower snake case. */
    public String code() {
        return code;
    }

    /** Whether the same call may work another time. */
    public Again again() {
        return again;
    }

    /** When it would work; {@code null} = that is not known. */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }
}
