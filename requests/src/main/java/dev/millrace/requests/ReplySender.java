package dev.millrace.requests;

import dev.millrace.schemas.Topics;
import dev.millrace.schemas.kafka.ProducerSettings;
import dev.millrace.schemas.kafka.PromptProducer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends replies and dead letters and waits until the broker has them. Each job waits on its own thread, so that the
 * producer can put what many jobs send into one batch.
 */
final class ReplySender implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(RequestWorker.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

    private final PromptProducer<byte[], byte[]> producer;

    ReplySender(WorkerSettings worker) {
        Map<String, Object> config = ProducerSettings.prompt(worker.kafka(), worker.group() + "-replies");
        config.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Topics.MAX_COPY_BYTES);
        this.producer = new PromptProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /**
     * Sends a record and returns when the broker has acknowledged it. Tries again for as long as it takes, since the work
     * that led to the record is done and would be lost.
     *
     * @throws RecordTooLargeException if no broker will ever take it
     * @throws InterruptedException if the thread was interrupted; the record may have been sent
     */
    void send(ProducerRecord<byte[], byte[]> message) throws InterruptedException {
        Duration pause = FIRST_PAUSE;
        while (true) {
            @Nullable Throwable failure;
            try {
                producer.send(message);
                return;
            } catch (ExecutionException e) {
                failure = e.getCause();
            } catch (KafkaException e) {
                failure = e;
            }
            if (failure instanceof RecordTooLargeException tooLarge) {
                throw tooLarge;
            }
            LOGGER.atWarn()
                    .addKeyValue("topic", message.topic())
                    .addKeyValue("reason", String.valueOf(failure))
                    .log("A reply could not be sent and is sent again");
            TimeUnit.NANOSECONDS.sleep(pause.toNanos());
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
        }
    }

    @Override
    public void close() {
        producer.close();
    }
}
