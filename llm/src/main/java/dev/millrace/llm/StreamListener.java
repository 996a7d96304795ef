package dev.millrace.llm;

/**
 * Takes the pieces of a reply as they come.
 *
 * <p><b>Thread and order.</b> All methods of one call are called on the thread that makes the call (a virtual one under
 * {@link ModelDispatcher}), one after the other, in the provider's order, and the call does not go on before they
 * return: a listener that blocks holds up the provider, so it should hand over and return.
 *
 * <p><b>End.</b> The last delta has been delivered before the call returns its reply or throws. After an interrupt or a
 * {@link ModelDispatcher#cancel} no further method is called; at most the one that is being called right then finishes.
 *
 * <p><b>Exceptions.</b> What a listener throws ends the call: its HTTP request is closed, no further delta comes, and
 * the call fails with {@link ModelErrorCode#INTERNAL_ERROR} and the exception as the cause. It is not retried.
 */
@FunctionalInterface
public interface StreamListener {

    /** Takes nothing. */
    StreamListener NONE = delta -> {};

    /** One more piece. */
    void onDelta(ModelDelta delta);

    /**
     * The next attempt starts, counted from 1 over all models that are asked. Deltas that came before belong to an
     * attempt that failed and are no part of the reply. Called by {@link ModelDispatcher} only, before each attempt.
     */
    default void onAttempt(int attempt) {}
}
