package dev.millrace.gateway.kafka;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Topics;
import org.apache.kafka.clients.CommonClientConfigs;

/**
 * The Kafka cluster of an installation, and the names of its topics.
 *
 * @param client how to reach the brokers
 */
public record Cluster(ClientSettings client, Topics topics) {

    /** The same for a client of this name, which is quick to find brokers that are back. */
    Cluster as(String clientId) {
        return new Cluster(
                client.as(clientId).with(CommonClientConfigs.RECONNECT_BACKOFF_MAX_MS_CONFIG, 1_000), topics);
    }
}
