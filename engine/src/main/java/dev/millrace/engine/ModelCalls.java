package dev.millrace.engine;

import dev.millrace.schemas.HeaderNames;
import org.jspecify.annotations.Nullable;

/**
 * Who makes model calls. Called on stream threads, so nothing here may block.
 *
 * @param <C> a call: enough to make it and to answer it, on any instance
 */
public interface ModelCalls<C> {

    /**
     * Make this call, unless it waits or runs already. The reply comes back as an event on a topic that the machine
     * reads.
     */
    void request(int partition, C call);

    /**
     * The same for a call that this machine found in its store: somebody may have begun to make it before.
     *
     * @return false if it waits or runs here already, so that nothing was to be done
     */
    default boolean requestAgain(int partition, C call) {
        request(partition, call);
        return true;
    }

    /**
     * Put a fence on the topic that replies come by: a record with the header {@link HeaderNames#FENCE} and this value
     * on this partition. When the machine reads it back, every reply that had been given before has been taken.
     */
    void fence(int partition, String value);

    /**
     * What the model has said to this call so far, if its reply is still coming in here; {@code null} = nothing that is
     * known here.
     */
    default @Nullable String saidSoFar(C call) {
        return null;
    }

    /** Nobody waits for this call any more: drop it if it waits, abort it if it runs. */
    void settle(C call);

    /**
     * The machine has given a partition up, to another instance or to take it anew: whoever has it next asks for what
     * is still wanted. Drop the partition's calls that wait; those that run have cost something, and go on.
     */
    default void leave(int partition) {}
}
