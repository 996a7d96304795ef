package dev.millrace.gateway.kafka;

import dev.millrace.gateway.access.AuditEntry;
import dev.millrace.kafka.AcknowledgedProducer;
import dev.millrace.schemas.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who asked for what, on a topic of its own. What is permitted is stored before it is done. Refusals are stored soon
 * after, and of a flood of them only some, so that nobody can fill the topic or hold up others by being refused. For
 * any thread.
 */
public final class AuditLog implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(AuditLog.class);

    /** So many refusals are stored in a second; those that come meanwhile are counted. */
    public static final int REFUSALS_PER_SECOND = 100;

    /** Refusals of so long are stored together. */
    public static final Duration TURN = Duration.ofSeconds(1);

    private final String topic;
    private final AcknowledgedProducer producer;
    private final BlockingQueue<AuditEntry> refusals = new ArrayBlockingQueue<>(REFUSALS_PER_SECOND);
    private final AtomicLong dropped = new AtomicLong();
    private final Thread writer = Thread.ofPlatform().daemon().name("audit-log").unstarted(this::writeRefusals);

    /**
     * Connects when the first entry is stored.
     *
     * @param timeout how long {@link #permitted} takes at most
     */
    public AuditLog(Cluster cluster, Duration timeout) {
        this.topic = cluster.topics().audit();
        this.producer = new AcknowledgedProducer(cluster.client().prompt("millrace-gateway-audit"), timeout);
        writer.start();
    }

    /**
     * Returns once the entry is stored.
     *
     * @throws BrokerUnavailableException if it may not be: what was asked for must not be done then
     */
    public void permitted(AuditEntry entry) throws BrokerUnavailableException {
        try {
            producer.send(List.of(encoded(entry)));
        } catch (KafkaException e) {
            throw new BrokerUnavailableException("the brokers did not store the audit entry in time", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BrokerUnavailableException("interrupted while the audit entry was stored", e);
        }
    }

    /** Takes note of a refusal; does not wait. */
    public void refused(AuditEntry entry) {
        if (!refusals.offer(entry)) {
            dropped.incrementAndGet();
        }
    }

    private void writeRefusals() {
        try {
            while (true) {
                List<AuditEntry> entries = new ArrayList<>();
                entries.add(refusals.take());
                try {
                    Thread.sleep(TURN);
                } finally {
                    // also at the end, so that none is lost that waits
                    refusals.drainTo(entries);
                    store(entries);
                }
            }
        } catch (InterruptedException e) {
            LOGGER.debug("The audit log takes no more refusals");
        }
    }

    private void store(List<AuditEntry> entries) throws InterruptedException {
        long missing = dropped.getAndSet(0);
        List<ProducerRecord<String, byte[]>> records = new ArrayList<>();
        for (int i = 0; i < entries.size(); i++) {
            records.add(encoded(i == entries.size() - 1 ? entries.get(i).after(missing) : entries.get(i)));
        }
        try {
            producer.send(records);
        } catch (KafkaException e) {
            dropped.addAndGet(missing + entries.size());
            LOGGER.atWarn()
                    .addKeyValue("entries", entries.size())
                    .setCause(e)
                    .log("The brokers did not take refusals for the audit log; they are counted in the next one");
        }
    }

    private ProducerRecord<String, byte[]> encoded(AuditEntry entry) {
        @Nullable String key = entry.namespace();
        return new ProducerRecord<>(topic, key, Json.write(entry));
    }

    /** Stores what waits and disconnects. */
    @Override
    public void close() {
        writer.interrupt();
        try {
            writer.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        producer.close();
    }
}
