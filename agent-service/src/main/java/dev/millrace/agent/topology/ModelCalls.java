package dev.millrace.agent.topology;

/** Who makes model calls. Called on stream threads, so nothing here may block. */
public interface ModelCalls {

    /** Header of a fence; such a record has no value and is nothing but its place in the order. */
    String FENCE = "millrace-fence";

    /** Make this call, unless it waits or runs already. The reply comes back as an event on a lane. */
    void request(int partition, OutstandingCall call);

    /**
     * Put a fence on the cognitive lane: a record with the header {@link #FENCE} and this value on this partition. When the
     * machine reads it back, every reply that had been given before has been taken.
     */
    void fence(int partition, String value);

    /** Nobody waits for this call any more: drop it if it waits, abort it if it runs. */
    void settle(OutstandingCall call);
}
