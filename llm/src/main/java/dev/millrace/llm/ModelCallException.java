package dev.millrace.llm;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A model call that gave no reply. The message is for people: it says what was expected and what happened, and never
 * holds a key, a prompt or an answer.
 */
public final class ModelCallException extends Exception {

    /** Nobody is asked to wait for longer, whatever a provider says. */
    public static final Duration LONGEST_PAUSE = Duration.ofDays(1);

    private final ModelErrorCode code;
    private final boolean retryable;
    private final @Nullable Duration retryAfter;
    private final @Nullable ModelCharge charge;

    /** A failure that is as retryable as its code. */
    public ModelCallException(ModelErrorCode code, String message) {
        this(code, message, code.retryable(), null, null);
    }

    /**
     * A failure in full.
     *
     * @param retryAfter the provider's wish for a pause, of which no more than {@link #LONGEST_PAUSE} counts; null if
     *     it had none
     */
    public ModelCallException(
            ModelErrorCode code,
            String message,
            boolean retryable,
            @Nullable Duration retryAfter,
            @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
        this.retryable = retryable;
        this.retryAfter = retryAfter == null || retryAfter.compareTo(LONGEST_PAUSE) < 0 ? retryAfter : LONGEST_PAUSE;
        this.charge = null;
    }

    private ModelCallException(ModelCallException same, ModelCharge charge) {
        super(same.getMessage(), same.getCause());
        setStackTrace(same.getStackTrace());
        this.code = same.code;
        this.retryable = same.retryable;
        this.retryAfter = same.retryAfter;
        this.charge = charge;
    }

    /** The same failure of a request that was charged nevertheless. */
    public ModelCallException charged(ModelCharge what) {
        return new ModelCallException(this, what);
    }

    /** For a {@link StreamListener} that threw. */
    public static ModelCallException brokenListener(RuntimeException thrown) {
        return broken("the listener of a streamed reply", thrown);
    }

    /** For foreign code that threw what it should not; {@code what} it is begins the message. */
    static ModelCallException broken(String what, Exception thrown) {
        return new ModelCallException(
                ModelErrorCode.INTERNAL_ERROR,
                what + " broke with " + thrown.getClass().getName()
                        + (thrown.getMessage() == null ? "" : ": " + thrown.getMessage()),
                false,
                null,
                thrown);
    }

    public ModelErrorCode code() {
        return code;
    }

    /** Whether a later attempt with the same request may succeed. */
    public boolean retryable() {
        return retryable;
    }

    /** How long the provider asks us to wait; null if it does not say. */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }

    /** What the failed request used; null if its provider did not say. */
    public @Nullable ModelCharge charge() {
        return charge;
    }

    @Override
    public String getMessage() {
        String message = super.getMessage();
        return message == null ? code.wireName() : message;
    }
}
