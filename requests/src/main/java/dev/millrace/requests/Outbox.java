package dev.millrace.requests;

import dev.millrace.kafka.ProducerSettings;
import dev.millrace.kafka.PromptProducer;
import dev.millrace.schemas.Topics;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends replies and dead letters and waits until the broker has them. Each job waits on its own thread, so that the
 * producer can put what many jobs send into one batch.
 */
final class Outbox implements AutoCloseable {
    private final PromptProducer<byte[], byte[]> producer;

    Outbox(WorkerSettings worker) {
        Map<String, Object> config = ProducerSettings.prompt(worker.kafka(), worker.group() + "-replies");
        config.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Topics.MAX_COPY_BYTES);
        this.producer = new PromptProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /**
     * Sends a record and returns when the broker has acknowledged it. Tries again for as long as it takes.
     *
     * @throws RecordTooLargeException if no broker will ever take it
     * @throws InterruptedException if the thread was interrupted, or this was closed; the record may have been sent
     */
    void send(ProducerRecord<byte[], byte[]> message) throws InterruptedException {
        producer.send(message, "a reply");
    }

    @Override
    public void close() {
        producer.close();
    }
}
