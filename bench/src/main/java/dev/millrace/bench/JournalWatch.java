package dev.millrace.bench;

import dev.millrace.schemas.KnownEventType;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.jspecify.annotations.Nullable;

/** Notes when things appear in the journal, as whoever reads committed records sees it. */
final class JournalWatch implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(10);

    private final Map<String, Long> seenAt = new ConcurrentHashMap<>();
    private final AtomicLong noise = new AtomicLong();
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final String noiseType;
    private final Thread reader = Thread.ofPlatform().name("journal-watch").unstarted(this::run);
    private volatile boolean closed;

    /** From the journal's end on. Records of the noise's type are counted only. */
    JournalWatch(KafkaClients kafka, String topic, String noiseType) {
        this.noiseType = noiseType;
        this.consumer = kafka.follower(topic, "read_committed");
        reader.start();
    }

    /**
     * When an event with this id, or the end of the task with this id as cancelled, was seen; {@code null} = not yet.
     */
    @Nullable
    Long seenAt(String id) {
        return seenAt.get(id);
    }

    long noise() {
        return noise.get();
    }

    private void run() {
        while (!closed) {
            for (ConsumerRecord<byte[], byte[]> entry : consumer.poll(POLL)) {
                String type = Headers.text(entry, "ce_type");
                if (type.equals(noiseType)) {
                    noise.incrementAndGet();
                } else if (type.equals(KnownEventType.TASK_CANCELLED.wireName())) {
                    seenAt.putIfAbsent(Headers.text(entry, "ce_subject"), System.nanoTime());
                } else {
                    seenAt.putIfAbsent("event " + Headers.text(entry, "ce_id"), System.nanoTime());
                }
            }
        }
        consumer.close();
    }

    @Override
    public void close() {
        closed = true;
        Uninterrupted.join(reader, Duration.ofSeconds(5));
    }
}
