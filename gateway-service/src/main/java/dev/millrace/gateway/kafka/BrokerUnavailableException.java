package dev.millrace.gateway.kafka;

/** The Kafka brokers did not do in time what they were asked for. Trying again later helps. */
public final class BrokerUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    BrokerUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
