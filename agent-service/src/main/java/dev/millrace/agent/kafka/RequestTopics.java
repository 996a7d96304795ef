package dev.millrace.agent.kafka;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicIdentity;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Which toolsets have a request topic. The machine may not write to one that is not there: a transaction that cannot be
 * finished would stop the partition, and anybody may publish a tool.
 */
final class RequestTopics implements Predicate<String> {

    /** Between two looks whether a topic that was there still is. */
    static final Duration SPACING = Duration.ofSeconds(15);

    private final Brokers brokers;
    private final Topics topics;
    private final LongSupplier nanoTime;
    /** Toolsets that have their topic, with the last look at it. */
    private final Map<String, Long> known = new ConcurrentHashMap<>();

    /** Who knows which topics there are. */
    @FunctionalInterface
    interface Brokers {
        /** Whether they say that there is a topic of this name. */
        boolean have(String topic) throws InterruptedException;
    }

    RequestTopics(ClientSettings kafka, Topics topics) {
        this(
                name -> {
                    try (TopicIdentity topic = TopicIdentity.of(kafka, name)) {
                        return topic.find().isPresent();
                    }
                },
                topics,
                System::nanoTime);
    }

    RequestTopics(Brokers brokers, Topics topics, LongSupplier nanoTime) {
        this.brokers = brokers;
        this.topics = topics;
        this.nanoTime = nanoTime;
    }

    /**
     * Whether the toolset has its topic. Asks the brokers until it is there, and then from time to time; as long as
     * they do not say, it is as it was, and at first not there.
     */
    @Override
    public boolean test(String toolset) {
        Long looked = known.get(toolset);
        if (looked != null && nanoTime.getAsLong() - looked < SPACING.toNanos()) {
            return true;
        }
        try {
            boolean there = brokers.have(topics.requests(toolset)) || (looked != null && !isGone(toolset));
            if (there) {
                known.put(toolset, nanoTime.getAsLong());
            } else {
                known.remove(toolset);
            }
            return there;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return looked != null;
        }
    }

    /** Whether brokers that did not know of its topic answer, and still do not. */
    private boolean isGone(String toolset) throws InterruptedException {
        if (!brokers.have(topics.definitions())) {
            known.replaceAll((each, looked) -> nanoTime.getAsLong()); // nor would they say anything of the others
            return false;
        }
        return !brokers.have(topics.requests(toolset));
    }
}
