package dev.millrace.llm;

import java.time.Duration;

/**
 * How much may be asked with the keys of providers, by all processes that share them. Safe for any thread.
 *
 * <p>A permission is for one request, to be sent at once. Nobody is put in a line here: who is refused asks again, so
 * that the most urgent call of that moment is the one that asks.
 */
public interface RateLimiter {

    /** Nothing is limited. */
    RateLimiter NONE = new RateLimiter() {
        @Override
        public boolean limits(String key) {
            return false;
        }

        @Override
        public Answer ask(String key, long tokens) {
            throw new IllegalStateException("nothing is limited, so nobody has to ask");
        }

        @Override
        public void settle(Granted granted, long tokens) {
            throw new IllegalStateException("nothing was granted");
        }

        @Override
        public void release(Granted granted) {
            throw new IllegalStateException("nothing was granted");
        }
    };

    /** Whether requests with this key need a permission. The answer never changes. */
    boolean limits(String key);

    /**
     * Asks for the permission to send one request. Blocks for as long as the decision takes, not until there is room.
     *
     * @param key one that is limited
     * @param tokens what the request is expected to use, input and output, 0 or more
     * @throws ModelCallException with {@link ModelErrorCode#RATE_LIMITED}, not to be tried again, if there can never be
     *     room for so many tokens
     * @throws InterruptedException if interrupted; what may have been granted is given back
     */
    Answer ask(String key, long tokens) throws ModelCallException, InterruptedException;

    /** Says what a request really used, once it is known. Does not wait. */
    void settle(Granted granted, long tokens);

    /** Gives back a permission of which nothing was used. Does not wait. */
    void release(Granted granted);

    /** Yes or no. */
    sealed interface Answer {}

    /**
     * The request may be sent, now.
     *
     * @param claim what the permission is called; unique
     * @param tokens how many it was given for
     */
    record Granted(String key, String claim, long tokens) implements Answer {}

    /**
     * Not now.
     *
     * @param roomIn when there may be room, if nobody else takes it
     */
    record Refused(Duration roomIn) implements Answer {}
}
