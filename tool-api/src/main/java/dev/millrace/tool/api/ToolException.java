package dev.millrace.tool.api;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A tool's "no": an ordinary result with a code of its own, which the model reads. */
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
     * @param code a stable word, lower snake case, such as {@code order_not_found}
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

    /** Says no for now: nothing has been done, and the service may try again inside the call's time. */
    public static ToolException passing(String code, String message) {
        return new ToolException(code, message, Again.PASSING, null);
    }

    /**
     * The same of somebody who may have said when it will work.
     *
     * @param retryAfter how long to wait at least; {@code null} = nobody said
     */
    public static ToolException passing(String code, String message, @Nullable Duration retryAfter) {
        return new ToolException(code, message, Again.PASSING, retryAfter);
    }

    /**
     * Says that it is not known whether it was done; tried again only if the tool is not
     * {@link SideEffects#DESTRUCTIVE}.
     */
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

    /** When it will work, if somebody said so. */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }
}
