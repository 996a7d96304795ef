package dev.millrace.gateway.kafka;

import org.jspecify.annotations.Nullable;

/** The Kafka brokers did not do in time what they were asked for. Trying again later helps. */
public final class BrokerUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    BrokerUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
