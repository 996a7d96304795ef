package dev.millrace.schemas.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
 * Asks the brokers. All of this process that reach them in the same way share a client, and the answers that are new enough.
 */
final class AskedTopicIdentity implements TopicIdentity {
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);
    private static final ReentrantLock LOCK = new ReentrantLock();
    /** By how they are reached. Guarded by the lock. */
    private static final Map<Map<String, Object>, Brokers> BROKERS = new HashMap<>();

    private final Map<String, Object> kafka;
    private final String topic;
    private @Nullable Brokers brokers;

    AskedTopicIdentity(Map<String, Object> kafka, String topic) {
        Map<String, Object> config = new HashMap<>(kafka);
        config.put(AdminClientConfig.CLIENT_ID_CONFIG, "millrace-identity");
        config.put(AdminClientConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 1_000);
        this.kafka = Map.copyOf(config);
        this.topic = topic;
    }

    /** What is shared. */
    private static final class Brokers {
        private final Admin admin;
        private final ReentrantLock lock = new ReentrantLock();
        /** How many share it. Guarded by {@link #LOCK}. */
        private int users;
        /** By topic, also those that are not there. Guarded by the lock, like the next two. */
        private final Map<String, Integer> topics = new HashMap<>();

        private Map<String, TopicId> answer = Map.of();
        private long askedAtNanos;

        Brokers(Admin admin) {
            this.admin = admin;
        }

        void join(String topic) {
            lock.lock();
            try {
                topics.merge(topic, 1, Integer::sum);
            } finally {
                lock.unlock();
            }
        }

        void leave(String topic) {
            lock.lock();
            try {
                topics.computeIfPresent(topic, (name, before) -> before == 1 ? null : before - 1);
            } finally {
                lock.unlock();
            }
        }

        Optional<TopicId> lately(String topic) throws InterruptedException {
            lock.lockInterruptibly();
            try {
                TopicId known = System.nanoTime() - askedAtNanos < LATELY.toNanos() ? answer.get(topic) : null;
                if (known == null) {
                    answer = ask(List.copyOf(topics.keySet()));
                    askedAtNanos = System.nanoTime();
                    known = answer.get(topic);
                }
                return Optional.ofNullable(known);
            } finally {
                lock.unlock();
            }
        }

        /** Those that are there; none if the brokers do not answer. */
        Map<String, TopicId> ask(List<String> names) throws InterruptedException {
            int limitMs = (int) ANSWER_LIMIT.toMillis();
            try {
                KafkaFuture<String> cluster = admin.describeCluster(new DescribeClusterOptions().timeoutMs(limitMs))
                        .clusterId();
                Map<String, KafkaFuture<TopicDescription>> described = admin.describeTopics(
                                names, new DescribeTopicsOptions().timeoutMs(limitMs))
                        .topicNameValues();
                String clusterId = cluster.get(limitMs, TimeUnit.MILLISECONDS);
                Map<String, TopicId> found = new HashMap<>();
                for (String name : new ArrayList<>(described.keySet())) {
                    KafkaFuture<TopicDescription> future = described.get(name);
                    TopicDescription description = future == null ? null : ifAny(future, limitMs);
                    if (description != null && clusterId != null) {
                        found.put(
                                name,
                                new TopicId(clusterId, description.topicId().toString()));
                    }
                }
                return found;
            } catch (ExecutionException | TimeoutException | KafkaException e) {
                return Map.of();
            }
        }

        private static @Nullable TopicDescription ifAny(KafkaFuture<TopicDescription> described, int limitMs)
                throws InterruptedException, TimeoutException {
            try {
                return described.get(limitMs, TimeUnit.MILLISECONDS);
            } catch (ExecutionException e) {
                return null;
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
                joined = BROKERS.computeIfAbsent(kafka, config -> new Brokers(Admin.create(config)));
                joined.users++;
            } finally {
                LOCK.unlock();
            }
            joined.join(topic);
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
        left.leave(topic);
        boolean last;
        LOCK.lock();
        try {
            last = --left.users == 0;
            if (last) {
                BROKERS.remove(kafka);
            }
        } finally {
            LOCK.unlock();
        }
        if (last) {
            left.admin.close(Duration.ZERO);
        }
    }
}
