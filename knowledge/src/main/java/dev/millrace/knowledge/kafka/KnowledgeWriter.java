package dev.millrace.knowledge.kafka;

import dev.millrace.api.KnowledgeView;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.knowledge.index.StoredChunk;
import dev.millrace.knowledge.index.StoredEntity;
import dev.millrace.knowledge.index.StoredMentions;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Writes to the topic of knowledge, each change as a whole or not at all, and events to lanes. Connects when it is
 * first used. For any thread; changes wait for each other.
 */
public final class KnowledgeWriter implements AutoCloseable {

    /** How long the rest of a change that was broken off by the end of its process keeps readers waiting, at most. */
    private static final Duration OPEN_LIMIT = Duration.ofSeconds(60);

    private final ClientSettings settings;
    private final Topics topics;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Producer<String, byte[]> producer;

    /** What is written together. */
    public static final class Change {
        private final Map<String, byte @Nullable []> records = new LinkedHashMap<>();

        /** With this chunk. */
        public Change chunk(StoredChunk chunk) {
            records.put(
                    KnowledgeKeys.chunk(chunk.namespace(), chunk.documentId(), chunk.version(), chunk.number()),
                    KnowledgeRecords.chunk(chunk));
            return this;
        }

        /** With this document, as it is now. To be called after {@link #chunk} for its chunks. */
        public Change document(KnowledgeView.Document document) {
            records.put(
                    KnowledgeKeys.document(document.namespace(), document.id()), KnowledgeRecords.document(document));
            return this;
        }

        /** With this entity. */
        public Change entity(StoredEntity entity) {
            records.put(KnowledgeKeys.entity(entity.namespace(), entity.id()), KnowledgeRecords.entity(entity));
            return this;
        }

        /** With what a text mentions. */
        public Change mentions(StoredMentions mentions) {
            records.put(
                    KnowledgeKeys.mentions(mentions.namespace(), mentions.id()), KnowledgeRecords.mentions(mentions));
            return this;
        }

        /** Without what has these keys, unless this change puts it. */
        public Change remove(Collection<String> keys) {
            for (String key : keys) {
                records.putIfAbsent(key, null);
            }
            return this;
        }

        /** Whether there is nothing to write. */
        public boolean isEmpty() {
            return records.isEmpty();
        }
    }

    /**
     * Writes nothing yet.
     *
     * @param instance names this process among those that write, also after a restart: what it left unfinished is void
     *     as soon as it is back
     */
    public KnowledgeWriter(ClientSettings kafka, Topics topics, String instance) {
        this.settings = kafka.prompt("millrace-knowledge-write")
                .with(ProducerConfig.TRANSACTIONAL_ID_CONFIG, topics.prefix() + "knowledge-" + instance)
                .with(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, (int) OPEN_LIMIT.toMillis())
                .with(ProducerConfig.MAX_BLOCK_MS_CONFIG, (int) OPEN_LIMIT.toMillis())
                .with(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 5)
                .with(ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 1_000);
        this.topics = topics;
    }

    /**
     * Writes a change.
     *
     * @return the offset after it; 0 if there was nothing to write
     * @throws KafkaException if it was not written
     */
    public long write(Change change) throws InterruptedException {
        List<ProducerRecord<String, byte[]>> records = new ArrayList<>();
        change.records.forEach((key, value) -> records.add(new ProducerRecord<>(topics.knowledge(), key, value)));
        return send(records);
    }

    /** Puts an event on the lane that it belongs on. */
    public void lane(Event event) throws InterruptedException {
        send(List.of(EventCodec.toRecord(topics.lane(event.lane()), event)));
    }

    private long send(List<ProducerRecord<String, byte[]>> records) throws InterruptedException {
        if (records.isEmpty()) {
            return 0;
        }
        lock.lockInterruptibly();
        try {
            Producer<String, byte[]> open = open();
            try {
                open.beginTransaction();
                List<Future<RecordMetadata>> sent = new ArrayList<>(records.size());
                for (ProducerRecord<String, byte[]> one : records) {
                    sent.add(open.send(one));
                }
                open.commitTransaction();
                return sent.getLast().get().offset() + 1;
            } catch (KafkaException e) {
                // whatever has become of it: the next one begins with what is certain
                close(open);
                if (e instanceof InterruptException) {
                    throw new InterruptedException("interrupted while writing");
                }
                throw e;
            } catch (ExecutionException e) {
                throw new KafkaException(e.getCause());
            }
        } finally {
            lock.unlock();
        }
    }

    private Producer<String, byte[]> open() {
        Producer<String, byte[]> open = producer;
        if (open == null) {
            open = new KafkaProducer<>(settings.values(), new StringSerializer(), new ByteArraySerializer());
            try {
                open.initTransactions();
            } catch (KafkaException e) {
                open.close(Duration.ZERO);
                throw e;
            }
            producer = open;
        }
        return open;
    }

    private void close(Producer<String, byte[]> open) {
        producer = null;
        open.close(Duration.ZERO);
    }

    @Override
    public void close() {
        lock.lock();
        try {
            Producer<String, byte[]> open = producer;
            if (open != null) {
                producer = null;
                open.close(Duration.ofSeconds(5));
            }
        } finally {
            lock.unlock();
        }
    }
}
