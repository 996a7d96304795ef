package dev.millrace.knowledge.kafka;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.ReaderThread;
import dev.millrace.kafka.TopicLog;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.MemoryDocument;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of the documents of memory as they are now, each change at least once; instances share them. Goes on where the
 * last one stopped.
 */
public final class MemoryReader implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(MemoryReader.class);
    private static final Duration WAIT = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final TopicLog log;
    private final ReaderThread thread;
    private final Taker taker;

    /** Is told. */
    public interface Taker {
        /** A document is like this now. */
        void changed(MemoryDocument document) throws InterruptedException;

        /** There is no such document any more. */
        void removed(String namespace, String path) throws InterruptedException;
    }

    /** Reads nothing yet. */
    public MemoryReader(ClientSettings kafka, Topics topics, Taker taker) {
        this.taker = taker;
        this.log = new TopicLog(kafka, topics.memory(), "millrace-knowledge");
        // few at a time: each may cost vectors
        ClientSettings group = TopicLog.WHAT_IS_LEFT
                .with(ConsumerConfig.GROUP_ID_CONFIG, topics.prefix() + "knowledge-memory")
                .with(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 20);
        this.thread = new ReaderThread("knowledge-memory", () -> log.open("memory", group), LONGEST_PAUSE, this::read);
    }

    /** Begins. */
    public void start() {
        thread.start();
    }

    private void read(Consumer<byte[], byte[]> consumer) throws InterruptedException {
        consumer.subscribe(List.of(log.topic()));
        while (thread.isOpen()) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(WAIT)) {
                take(record);
            }
            consumer.commitSync();
        }
    }

    private void take(ConsumerRecord<byte[], byte[]> record) throws InterruptedException {
        MemoryDocument.Key key =
                record.key() == null ? null : MemoryDocument.Key.of(new String(record.key(), StandardCharsets.UTF_8));
        if (key == null || key.version() != null) {
            return;
        }
        if (record.value() == null) {
            taker.removed(key.namespace(), key.path());
            return;
        }
        try {
            taker.changed(MemoryDocument.fromJson(record.value()));
        } catch (MalformedEventException e) {
            LOGGER.atWarn()
                    .addKeyValue("partition", record.partition())
                    .addKeyValue("offset", record.offset())
                    .addKeyValue("errorCode", e.code())
                    .log("The memory topic holds a record that is no document; nobody finds it");
        }
    }

    /** Stops, within seconds. */
    @Override
    public void close() {
        thread.close();
        log.close();
    }
}
