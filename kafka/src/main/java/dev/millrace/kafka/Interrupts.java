package dev.millrace.kafka;

import org.apache.kafka.common.errors.InterruptException;

/** What Kafka's own exception stands for, which sets the thread's flag again. */
public final class Interrupts {

    private Interrupts() {}

    /** The exception of the language, to be thrown in place of this one; clears the flag, as it is usual. */
    public static InterruptedException of(InterruptException e) {
        boolean unused = Thread.interrupted();
        InterruptedException interrupted = new InterruptedException(e.getMessage());
        interrupted.initCause(e);
        return interrupted;
    }
}
