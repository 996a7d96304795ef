package dev.millrace.bench.crash;

import dev.millrace.schemas.Topics;
import dev.millrace.testing.HostileRecords;
import dev.millrace.testing.HostileRecords.Hostile;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends what nobody can accept to every lane and request topic for as long as the run lasts, and knows what brokers
 * have acknowledged of it: all of that has to be among the dead letters in the end.
 */
final class HostileSender implements AutoCloseable {

    /** So many a second: enough that every fault strikes among them. */
    private static final int PER_SECOND = 20;

    private static final Logger LOGGER = LoggerFactory.getLogger(HostileSender.class);

    private final KafkaProducer<byte[], byte[]> producer;
    private final HostileRecords records;
    private final Set<Integer> acknowledged = ConcurrentHashMap.newKeySet();
    private final Thread thread =
            Thread.ofPlatform().daemon().name("hostile-sender").unstarted(this::run);
    private volatile boolean closed;

    HostileSender(String bootstrapServers, Topics topics, long seed) {
        this.records = new HostileRecords(topics, seed, HostileRecords.Kind.BAD);
        this.producer = new KafkaProducer<>(
                Map.of(
                        "bootstrap.servers",
                        bootstrapServers,
                        "acks",
                        "all",
                        "reconnect.backoff.max.ms",
                        200,
                        "max.block.ms",
                        5_000),
                new ByteArraySerializer(),
                new ByteArraySerializer());
        thread.start();
    }

    /** Numbers of what brokers have taken so far. */
    Set<Integer> acknowledged() {
        return Set.copyOf(acknowledged);
    }

    private void run() {
        while (!closed) {
            Hostile hostile = records.next();
            try {
                Future<RecordMetadata> unused = producer.send(hostile.record(), (metadata, failure) -> {
                    if (failure == null) {
                        acknowledged.add(hostile.number());
                    }
                });
                Thread.sleep(1_000 / PER_SECOND);
            } catch (KafkaException e) {
                LOGGER.debug("The broker is away, or the record is refused at once");
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** Sends no more, and knows of everything that it has sent what became of it. */
    @Override
    public void close() {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        producer.close(Duration.ofSeconds(30));
    }
}
