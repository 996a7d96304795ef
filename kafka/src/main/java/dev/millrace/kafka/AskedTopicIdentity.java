package dev.millrace.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.jspecify.annotations.Nullable;

/**
 * Asks the brokers. All of this process that reach them in the same way share a client, and the answers that are new
 * enough.
 */
final class AskedTopicIdentity implements TopicIdentity {
    private static final int ANSWER_MS = 2_000;
    private static final ReentrantLock LOCK = new ReentrantLock();
    /** By how they are reached. Guarded by the lock. */
    private static final Map<ClientSettings, Brokers> BROKERS = new HashMap<>();

    private final ClientSettings kafka;
    private final String topic;
    private @Nullable Brokers brokers;

    AskedTopicIdentity(ClientSettings kafka, String topic) {
        this.kafka = kafka.as("millrace-identity").with(AdminClientConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 1_000);
        this.topic = topic;
    }

    /** What is shared. */
    private static final class Brokers {
        private final Admin admin;
        /** Those that are asked about, once for each who does. Changed under {@link #LOCK}. */
        private final List<String> topics = new CopyOnWriteArrayList<>();

        private final ReentrantLock asking = new ReentrantLock();
        /** Guarded by the lock, like the next. */
        private Map<String, TopicId> answer = Map.of();

        private long askedAtNanos;

        Brokers(Admin admin) {
            this.admin = admin;
        }

        Optional<TopicId> lately(String topic) throws InterruptedException {
            asking.lockInterruptibly();
            try {
                if (System.nanoTime() - askedAtNanos >= LATELY.toNanos() || !answer.containsKey(topic)) {
                    answer = ask(List.copyOf(new HashSet<>(topics)));
                    askedAtNanos = System.nanoTime();
                }
                return Optional.ofNullable(answer.get(topic));
            } finally {
                asking.unlock();
            }
        }

        /** Those that are there; none if the brokers do not answer. */
        Map<String, TopicId> ask(List<String> names) throws InterruptedException {
            Map<String, TopicId> found = new HashMap<>();
            try {
                KafkaFuture<String> cluster = admin.describeCluster(new DescribeClusterOptions().timeoutMs(ANSWER_MS))
                        .clusterId();
                Map<String, KafkaFuture<TopicDescription>> described = admin.describeTopics(
                                names, new DescribeTopicsOptions().timeoutMs(ANSWER_MS))
                        .topicNameValues();
                String clusterId = cluster.get(ANSWER_MS, TimeUnit.MILLISECONDS);
                for (Map.Entry<String, KafkaFuture<TopicDescription>> one : described.entrySet()) {
                    try {
                        TopicDescription description = one.getValue().get(ANSWER_MS, TimeUnit.MILLISECONDS);
                        found.put(
                                one.getKey(),
                                new TopicId(clusterId, description.topicId().toString()));
                    } catch (ExecutionException e) {
                        found.remove(one.getKey()); // it is not there
                    }
                }
                return found;
            } catch (ExecutionException | TimeoutException | KafkaException e) {
                return Map.of();
            }
        }
    }

    @Override
    public Optional<TopicId> find() throws InterruptedException {
        try {
            return Optional.ofNullable(shared().ask(List.of(topic)).get(topic));
        } catch (KafkaException e) {
            return Optional.empty();
        }
    }

    @Override
    public Optional<TopicId> lately() throws InterruptedException {
        try {
            return shared().lately(topic);
        } catch (KafkaException e) {
            return Optional.empty();
        }
    }

    private Brokers shared() {
        Brokers joined = brokers;
        if (joined == null) {
            LOCK.lock();
            try {
                joined = BROKERS.computeIfAbsent(kafka, config -> new Brokers(Admin.create(config.values())));
                joined.topics.add(topic);
            } finally {
                LOCK.unlock();
            }
            brokers = joined;
        }
        return joined;
    }

    @Override
    public void close() {
        Brokers left = brokers;
        if (left == null) {
            return;
        }
        brokers = null;
        LOCK.lock();
        try {
            left.topics.remove(topic);
            if (!left.topics.isEmpty()) {
                return;
            }
            BROKERS.remove(kafka);
        } finally {
            LOCK.unlock();
        }
        left.admin.close(Duration.ZERO);
    }
}
