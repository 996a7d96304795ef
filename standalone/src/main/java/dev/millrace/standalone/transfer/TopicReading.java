package dev.millrace.standalone.transfer;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/** Reads what is committed of a topic between given places, in the order of the dates. For one thread. */
final class TopicReading {

    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration STUCK = Duration.ofSeconds(60);
    /** So much of a partition is held at a time, since all of them are read side by side, in bytes. */
    private static final int HELD_BYTES = 1 << 20;

    private final ClientSettings config;
    private final Map<TopicPartition, Long> from;
    private final Map<TopicPartition, Long> to;

    /** What is done with a record. */
    @FunctionalInterface
    interface Taker {
        void take(ConsumerRecord<byte[], byte[]> found) throws IOException;
    }

    /** One partition, and what of it has been fetched. */
    private final class Part implements AutoCloseable {

        private final TopicPartition partition;
        private final long end;
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final Queue<ConsumerRecord<byte[], byte[]>> fetched = new ArrayDeque<>();

        Part(TopicPartition partition) {
            this.partition = partition;
            this.end = to.getOrDefault(partition, 0L);
            this.consumer =
                    new KafkaConsumer<>(config.values(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
            consumer.assign(List.of(partition));
            Long begin = from.get(partition);
            if (begin == null) {
                consumer.seekToBeginning(List.of(partition));
            } else {
                consumer.seek(partition, begin);
            }
        }

        /** The next one; {@code null} = that was all. */
        @Nullable
        ConsumerRecord<byte[], byte[]> next() throws TransferException {
            long limit = System.nanoTime() + STUCK.toNanos();
            while (fetched.isEmpty() && consumer.position(partition) < end) {
                long position = consumer.position(partition);
                for (ConsumerRecord<byte[], byte[]> found : consumer.poll(POLL)) {
                    if (found.offset() < end) {
                        fetched.add(found);
                    }
                }
                if (consumer.position(partition) > position) {
                    limit = System.nanoTime() + STUCK.toNanos();
                } else if (System.nanoTime() - limit > 0) {
                    throw new TransferException("expected " + partition + " to be readable up to " + end + ", found "
                            + STUCK.toSeconds() + " s to bring nothing behind " + position);
                }
            }
            return fetched.poll();
        }

        @Override
        public void close() {
            consumer.close();
        }
    }

    private record Head(Part part, ConsumerRecord<byte[], byte[]> found) {}

    /**
     * Nothing is read yet.
     *
     * @param kafka how to reach the brokers
     * @param from the first place of each partition; where there is none, or it is no more, the topic's beginning
     * @param to the place behind the last one, of each partition that is to be read
     */
    TopicReading(ClientSettings kafka, Map<TopicPartition, Long> from, Map<TopicPartition, Long> to) {
        this.config = kafka.with(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed")
                .with(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest")
                .with(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false)
                .with(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, HELD_BYTES)
                .with(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, HELD_BYTES)
                .with(TopicLog.NO_MORE);
        this.from = Map.copyOf(from);
        this.to = Map.copyOf(to);
    }

    /** Tells everything, the oldest first; of one partition in its order. */
    void forEach(Taker taker) throws TransferException, IOException {
        Collection<Part> parts = new ArrayList<>();
        try {
            PriorityQueue<Head> heads = new PriorityQueue<>(
                    Comparator.comparingLong(head -> head.found().timestamp()));
            for (TopicPartition partition : to.keySet()) {
                Part part = new Part(partition);
                parts.add(part);
                add(part, heads);
            }
            for (Head head = heads.poll(); head != null; head = heads.poll()) {
                taker.take(head.found());
                add(head.part(), heads);
            }
        } catch (KafkaException e) {
            throw new TransferException("The brokers let nothing be read: " + e.getMessage(), e);
        } finally {
            parts.forEach(Part::close);
        }
    }

    private static void add(Part part, PriorityQueue<Head> heads) throws TransferException {
        ConsumerRecord<byte[], byte[]> next = part.next();
        if (next != null) {
            heads.add(new Head(part, next));
        }
    }

    /** Tells the newest record of each key, unless that says that there is nothing any more. Reads everything twice. */
    void forEachNewest(Taker taker) throws TransferException, IOException {
        Map<Integer, Map<ByteBuffer, Long>> newest = new HashMap<>();
        forEach(found -> {
            if (found.key() != null) {
                newest.computeIfAbsent(found.partition(), partition -> new HashMap<>())
                        .put(ByteBuffer.wrap(found.key()), found.offset());
            }
        });
        forEach(found -> {
            if (found.key() != null
                    && found.value() != null
                    && Long.valueOf(found.offset())
                            .equals(newest.getOrDefault(found.partition(), Map.of())
                                    .get(ByteBuffer.wrap(found.key())))) {
                taker.take(found);
            }
        });
    }
}
