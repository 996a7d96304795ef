package dev.millrace.gateway.kafka;

import dev.millrace.schemas.Topics;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.CommonClientConfigs;

/**
 * The Kafka cluster of an installation, and the names of its topics.
 *
 * @param client how to reach the brokers: {@code bootstrap.servers} and whatever security needs
 */
public record Cluster(Map<String, Object> client, Topics topics) {

    public Cluster {
        client = Map.copyOf(client);
    }

    /** The same for a client of this name, which is quick to find brokers that are back. */
    Cluster as(String clientId) {
        Map<String, Object> config = new HashMap<>(client);
        config.put(CommonClientConfigs.CLIENT_ID_CONFIG, clientId);
        config.put(CommonClientConfigs.RECONNECT_BACKOFF_MAX_MS_CONFIG, 1_000);
        return new Cluster(config, topics);
    }
}
