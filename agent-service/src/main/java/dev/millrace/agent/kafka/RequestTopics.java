package dev.millrace.agent.kafka;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicIdentity;
import dev.millrace.schemas.Topics;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * Which toolsets have a request topic. The machine may not write to one that is not there: a transaction that cannot be
 * finished would stop the partition, and anybody may publish a tool.
 */
final class RequestTopics implements Predicate<String> {

    private final ClientSettings kafka;
    private final Topics topics;
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    RequestTopics(ClientSettings kafka, Topics topics) {
        this.kafka = kafka;
        this.topics = topics;
    }

    /** Whether the toolset has its topic; false as well if the brokers do not say. Asks them until it is there. */
    @Override
    public boolean test(String toolset) {
        if (known.contains(toolset)) {
            return true;
        }
        try (TopicIdentity topic = TopicIdentity.of(kafka, topics.requests(toolset))) {
            topic.find().ifPresent(found -> known.add(toolset));
            return known.contains(toolset);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
