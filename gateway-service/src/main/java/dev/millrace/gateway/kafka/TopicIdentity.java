package dev.millrace.gateway.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/**
 * Tells which topic it is that has a name: one that was deleted and made again, or lies in another cluster, is another one,
 * whose offsets mean something else. Connects when it is asked. For one thread.
 */
final class TopicIdentity implements AutoCloseable {
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);

    private final Map<String, Object> kafka;
    private final String topic;
    private @Nullable Admin admin;

    TopicIdentity(Map<String, Object> kafka, String topic) {
        Map<String, Object> config = new HashMap<>(kafka);
        config.put(AdminClientConfig.CLIENT_ID_CONFIG, "millrace-gateway-identity");
        config.put(AdminClientConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 1_000);
        this.kafka = Map.copyOf(config);
        this.topic = topic;
    }

    /** The topic's id; empty if it could not be found out within two seconds. */
    Optional<Uuid> find() throws InterruptedException {
        int limitMs = (int) ANSWER_LIMIT.toMillis();
        try {
            Admin open = admin == null ? Admin.create(kafka) : admin;
            admin = open;
            TopicDescription described = open.describeTopics(
                            List.of(topic), new DescribeTopicsOptions().timeoutMs(limitMs))
                    .allTopicNames()
                    .get(limitMs, TimeUnit.MILLISECONDS)
                    .get(topic);
            return Optional.ofNullable(described).map(TopicDescription::topicId);
        } catch (ExecutionException | TimeoutException | KafkaException e) {
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        if (admin != null) {
            admin.close(Duration.ZERO);
            admin = null;
        }
    }
}
