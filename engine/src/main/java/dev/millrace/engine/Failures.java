package dev.millrace.engine;

import java.util.Optional;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.streams.errors.MissingSourceTopicException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.errors.TaskMigratedException;
import org.apache.kafka.streams.processor.TaskId;

/** Tells failures that may pass from those that need a person. */
final class Failures {

    private static final String UNHANDLED_END = "Unhandled error in EndTxnResponse: ";

    private Failures() {}

    /** Whether a new thread has a chance: the broker was away for too long, or the task went elsewhere. */
    static boolean mayPass(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof RetriableException
                    || cause instanceof TaskMigratedException
                    || cause instanceof TaskCorruptedException
                    || cause instanceof MissingSourceTopicException
                    || cause instanceof InvalidTxnStateException // a new thread has a new producer
                    || isStumbleOverACommit(cause)
                    || isLateForItsPartitions(cause)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether a broker did not know what to do about the end of a transaction, as brokers (4.2) do not if an
     * administrator fences the producer at that moment. Kafka's client has no type for it. The same answer to a record
     * may come again for as long as the record is sent, so that is another matter.
     */
    private static boolean isStumbleOverACommit(Throwable cause) {
        return (UNHANDLED_END + Errors.UNKNOWN_SERVER_ERROR.message()).equals(cause.getMessage());
    }

    /**
     * Whether the state on the disk is at fault: a file is missing since the process was killed while it cleared up, or
     * the disk was full.
     */
    static boolean isLocalState(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ProcessorStateException) {
                return true;
            }
        }
        return false;
    }

    /** Whether the disk is full; RocksDB and Java say so in the words of the operating system. */
    static boolean isFullDisk(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String message = cause.getMessage();
            if (message != null && message.contains("No space left on device")) {
                return true;
            }
        }
        return false;
    }

    /** Whether the group has been used with other stores or topics, which brokers (4.2) do not let go of (KIP-1071). */
    static boolean isOtherTopology(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String message = cause.getMessage();
            if (cause instanceof InvalidRequestException && message != null && message.startsWith("Topology")) {
                return true;
            }
        }
        return false;
    }

    /** The row that could not be read, if that is what it is about. */
    static Optional<UnreadableRowException> unreadableRow(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof UnreadableRowException unreadable) {
                return Optional.of(unreadable);
            }
        }
        return Optional.empty();
    }

    /** The task at which it happened, if it says so. */
    static Optional<TaskId> task(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof StreamsException inStreams
                    && inStreams.taskId().isPresent()) {
                return inStreams.taskId();
            }
        }
        return Optional.empty();
    }

    /**
     * Whether a thread did something about partitions that it had just lost. The consumer says so by an {@code
     * IllegalStateException} and Streams by a {@code NullPointerException}, with no types of their own, and Streams
     * (4.2) does not see to it when a stopped process goes on, or a network comes back.
     */
    private static boolean isLateForItsPartitions(Throwable cause) {
        String message = cause.getMessage();
        return message != null
                && switch (cause) {
                    case IllegalStateException unused ->
                        message.startsWith("No current assignment for partition")
                                || message.startsWith("Consumer is not subscribed to any topics");
                    case NullPointerException unused ->
                        message.startsWith("Task was unexpectedly missing for partition");
                    default -> false;
                };
    }
}
