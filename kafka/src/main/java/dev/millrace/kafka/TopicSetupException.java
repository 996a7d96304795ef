package dev.millrace.kafka;

import org.jspecify.annotations.Nullable;

/**
 * The topics are not what the services need, or nobody could be asked. The message is meant for the operator: what was
 * expected and found, topic by topic, and what to do about it. A service that gets it does not start.
 */
public final class TopicSetupException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Says what is wrong and what to do; {@code cause} is {@code null} if the topics themselves are wrong. */
    public TopicSetupException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
