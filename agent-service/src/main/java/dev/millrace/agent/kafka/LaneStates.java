package dev.millrace.agent.kafka;

import dev.millrace.api.SystemView;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * How far the task machine, over all its instances, is with each lane. Asks the brokers when it is asked, and at most
 * once in {@link #SPACING}, also when they do not answer. For any thread; one asks at a time.
 */
public final class LaneStates implements AutoCloseable {

    /** An answer serves everybody for so long. */
    static final Duration SPACING = Duration.ofSeconds(1);

    private static final int ANSWER_MS = 5_000;
    /** A record that does not come by then, such as one that is too slow to be fetched now, has no age. */
    private static final Duration READ_LIMIT = Duration.ofMillis(500);
    /** Enough for the first record of each partition; a larger one comes as a whole. */
    private static final int FETCH_BYTES = 1024;

    private final ClientSettings kafka;
    private final Topics topics;
    private final String group;
    private final Clock clock;

    private final ReentrantLock lock = new ReentrantLock();

    // guarded by the lock
    private @Nullable Admin admin;
    private @Nullable KafkaConsumer<byte[], byte[]> consumer;
    private List<SystemView.Lane> last = List.of();
    private @Nullable KafkaException failure;
    private long askedAt = Long.MIN_VALUE;

    /**
     * Connects when it is asked for the first time.
     *
     * @param kafka the connection's settings, such as {@code bootstrap.servers}
     * @param group that of the task machine
     */
    public LaneStates(ClientSettings kafka, Topics topics, String group, Clock clock) {
        this.kafka = kafka;
        this.topics = topics;
        this.group = group;
        this.clock = clock;
    }

    /**
     * All lanes, in the order of priority.
     *
     * @throws IOException if the brokers do not answer
     */
    public List<SystemView.Lane> look() throws IOException, InterruptedException {
        lock.lockInterruptibly();
        try {
            if (clock.millis() - SPACING.toMillis() >= askedAt) {
                try {
                    last = ask(clock.millis());
                    failure = null;
                } catch (KafkaException e) {
                    // so that those who wait for their turn do not each wait for brokers that are away
                    failure = e;
                }
                askedAt = clock.millis();
            }
            if (failure != null) {
                throw new IOException("the brokers do not say: " + failure.getMessage(), failure);
            }
            return last;
        } finally {
            lock.unlock();
        }
    }

    private List<SystemView.Lane> ask(long now) throws InterruptedException {
        Admin open = admin == null
                ? Admin.create(kafka.as("millrace-agent-lanes")
                        .with(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ANSWER_MS)
                        .with(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, ANSWER_MS)
                        .values())
                : admin;
        admin = open;
        List<TopicPartition> partitions = get(
                        open.describeTopics(topics.lanes()).allTopicNames())
                .values()
                .stream()
                .flatMap(topic -> topic.partitions().stream()
                        .map(partition -> new TopicPartition(topic.name(), partition.partition())))
                .toList();
        Map<TopicPartition, Long> begins = offsets(open, partitions, OffsetSpec.earliest());
        Map<TopicPartition, Long> ends = offsets(open, partitions, OffsetSpec.latest());
        Map<TopicPartition, OffsetAndMetadata> committed = get(open.listConsumerGroupOffsets(
                        Map.of(group, new ListConsumerGroupOffsetsSpec().topicPartitions(partitions)))
                .partitionsToOffsetAndMetadata(group));
        Map<TopicPartition, Long> behind = new HashMap<>();
        for (TopicPartition partition : partitions) {
            OffsetAndMetadata offset = committed.get(partition);
            long begin = begins.getOrDefault(partition, 0L);
            long from = offset == null ? begin : Math.max(begin, offset.offset());
            if (from < ends.getOrDefault(partition, 0L)) {
                behind.put(partition, from);
            }
        }
        Map<String, Long> oldest = oldest(behind);
        List<SystemView.Lane> lanes = new ArrayList<>();
        for (Segment segment : Segment.values()) {
            String lane = topics.lane(segment);
            List<TopicPartition> own = partitions.stream()
                    .filter(partition -> partition.topic().equals(lane))
                    .toList();
            Long at = oldest.get(lane);
            lanes.add(new SystemView.Lane(
                    lane,
                    segment.name().toLowerCase(Locale.ROOT),
                    own.size(),
                    own.stream()
                            .mapToLong(partition -> ends.getOrDefault(partition, 0L))
                            .sum(),
                    own.stream()
                            .mapToLong(partition -> {
                                long end = ends.getOrDefault(partition, 0L);
                                return end - behind.getOrDefault(partition, end);
                            })
                            .sum(),
                    at == null ? null : (Long) Math.max(0, now - at)));
        }
        return List.copyOf(lanes);
    }

    /** The time of the oldest record by lane, from these places on; without those of which none could be read. */
    private Map<String, Long> oldest(Map<TopicPartition, Long> from) {
        Map<String, Long> oldest = new HashMap<>();
        if (from.isEmpty()) {
            return oldest;
        }
        KafkaConsumer<byte[], byte[]> reader = consumer == null
                ? new KafkaConsumer<>(
                        kafka.as("millrace-agent-lanes")
                                .with(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed")
                                .with(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, FETCH_BYTES)
                                .with(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none")
                                .values(),
                        new ByteArrayDeserializer(),
                        new ByteArrayDeserializer())
                : consumer;
        consumer = reader;
        reader.assign(from.keySet());
        from.forEach(reader::seek);
        long deadline = System.nanoTime() + READ_LIMIT.toNanos();
        Map<TopicPartition, Long> found = new HashMap<>();
        while (found.size() < from.size() && System.nanoTime() - deadline < 0) {
            for (ConsumerRecord<byte[], byte[]> record : reader.poll(Duration.ofMillis(100))) {
                found.putIfAbsent(new TopicPartition(record.topic(), record.partition()), record.timestamp());
            }
        }
        reader.unsubscribe();
        found.forEach((partition, at) -> oldest.merge(partition.topic(), at, Math::min));
        return oldest;
    }

    private static Map<TopicPartition, Long> offsets(Admin open, List<TopicPartition> partitions, OffsetSpec which)
            throws InterruptedException {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        get(open.listOffsets(
                                partitions.stream().collect(Collectors.toMap(Function.identity(), partition -> which)),
                                new ListOffsetsOptions(IsolationLevel.READ_COMMITTED))
                        .all())
                .forEach((partition, found) -> offsets.put(partition, found.offset()));
        return offsets;
    }

    private static <T> T get(KafkaFuture<T> future) throws InterruptedException {
        try {
            return future.get(2L * ANSWER_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new KafkaException(String.valueOf(e.getMessage()), e);
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (admin != null) {
                admin.close(Duration.ofSeconds(1));
                admin = null;
            }
            if (consumer != null) {
                consumer.close();
                consumer = null;
            }
        } finally {
            lock.unlock();
        }
    }
}
