package dev.millrace.agent.config;

import java.util.HashMap;
import java.util.Map;
import org.eclipse.microprofile.config.Config;

/** How to reach the brokers, as the configuration says. */
public final class KafkaConnection {

    private static final String PREFIX = "kafka.";
    private static final String BOOTSTRAP_SERVERS = "bootstrap.servers";

    private KafkaConnection() {}

    /** All {@code kafka.*} keys without that prefix; {@code bootstrap.servers} is always among them. */
    public static Map<String, Object> of(Config config) {
        Map<String, Object> kafka = new HashMap<>();
        for (String name : config.getPropertyNames()) {
            if (name.startsWith(PREFIX)) {
                config.getOptionalValue(name, String.class)
                        .ifPresent(value -> kafka.put(name.substring(PREFIX.length()), value));
            }
        }
        // asked for by name, so that the environment variable KAFKA_BOOTSTRAP_SERVERS counts
        kafka.put(
                BOOTSTRAP_SERVERS,
                config.getOptionalValue(PREFIX + BOOTSTRAP_SERVERS, String.class)
                        .orElse("localhost:9092"));
        return kafka;
    }
}
