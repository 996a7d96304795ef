package dev.millrace.engine;

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
                    || cause instanceof MissingSourceTopicException) {
                return true;
            }
        }
        return false;
    }
}
