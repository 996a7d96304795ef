package dev.millrace.engine;

import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.streams.errors.MissingSourceTopicException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.errors.TaskMigratedException;

/** Tells failures that may pass from those that need a person. */
final class Failures {

    private Failures() {}

    /** Whether a new thread has a chance: the broker was away for too long, or the task went elsewhere. */
    static boolean mayPass(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof RetriableException
                    || cause instanceof TaskMigratedException
                    || cause instanceof TaskCorruptedException
                    || cause instanceof MissingSourceTopicException
                    || cause instanceof InvalidTxnStateException // a new thread has a new producer
                    || isLateForItsPartitions(cause)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether a thread did something about partitions that it had just lost. The consumer says so by an {@code
     * IllegalStateException} with no type of its own, and Streams (4.2) does not see to it when a stopped process goes on, or
     * a network comes back.
     */
    private static boolean isLateForItsPartitions(Throwable cause) {
        String message = cause instanceof IllegalStateException ? cause.getMessage() : null;
        return message != null
                && (message.startsWith("No current assignment for partition")
                        || message.startsWith("Consumer is not subscribed to any topics"));
    }
}
