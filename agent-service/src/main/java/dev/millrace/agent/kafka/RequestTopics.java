package dev.millrace.agent.kafka;

import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which toolsets have a request topic. The machine may not write to one that is not there: a transaction that cannot be
 * finished would stop the partition, and anybody may publish a tool.
 */
final class RequestTopics implements Predicate<String>, AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(RequestTopics.class);
    private static final int ANSWER_MS = 5_000;

    private final Topics topics;
    private final Admin admin;
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    RequestTopics(Map<String, Object> kafka, Topics topics) {
        this.topics = topics;
        Map<String, Object> config = new HashMap<>(kafka);
        config.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ANSWER_MS);
        config.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, ANSWER_MS);
        this.admin = Admin.create(config);
    }

    /** Whether the toolset has its topic; false as well if the brokers do not say. Asks them until it is there. */
    @Override
    public boolean test(String toolset) {
        if (known.contains(toolset)) {
            return true;
        }
        try {
            admin.describeTopics(List.of(topics.requests(toolset)))
                    .allTopicNames()
                    .get(2L * ANSWER_MS, TimeUnit.MILLISECONDS);
            known.add(toolset);
            return true;
        } catch (ExecutionException | TimeoutException e) {
            LOGGER.atDebug()
                    .addKeyValue("topic", topics.requests(toolset))
                    .setCause(e)
                    .log("A request topic is not there, or the brokers do not say");
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(1));
    }
}
