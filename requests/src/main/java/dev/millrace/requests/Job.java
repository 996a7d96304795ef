package dev.millrace.requests;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.MalformedEventException;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/** One delivered record and what becomes of it. The outcome is set by the job's thread and read by the consumer's. */
final class Job {
    private static final Logger LOGGER = LoggerFactory.getLogger(RequestWorker.class);

    private final ConsumerRecord<byte[], byte[]> consumed;
    private final CountDownLatch batch;
    private final AtomicReference<@Nullable AcknowledgeType> outcome = new AtomicReference<>();
    private final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();
    private boolean acknowledged;
    private boolean locked = true;

    Job(ConsumerRecord<byte[], byte[]> consumed, CountDownLatch batch) {
        this.consumed = consumed;
        this.batch = batch;
    }

    ConsumerRecord<byte[], byte[]> consumed() {
        return consumed;
    }

    int deliveryCount() {
        return consumed.deliveryCount().map(Short::intValue).orElse(1);
    }

    /** The record as an event. A defect of ours costs this record alone, which becomes a dead letter as well. */
    Event event() throws MalformedEventException {
        try {
            return EventCodec.fromRecord(
                    consumed.headers(), consumed.value(), Instant.ofEpochMilli(Math.max(0, consumed.timestamp())));
        } catch (RuntimeException e) {
            about(LOGGER.atError()).setCause(e).log("A defect kept a record from being read");
            throw new MalformedEventException(
                    ReplyEvents.INTERNAL_ERROR,
                    "internal error: " + e.getClass().getSimpleName());
        }
    }

    /** A line of the log with the place of the record. */
    LoggingEventBuilder about(LoggingEventBuilder log) {
        return log.addKeyValue("topic", consumed.topic())
                .addKeyValue("partition", consumed.partition())
                .addKeyValue("offset", consumed.offset());
    }

    /** Sets the outcome; the first one counts. */
    void settle(AcknowledgeType type) {
        if (outcome.compareAndSet(null, type)) {
            batch.countDown();
        }
    }

    /** What to tell the broker; {@code null} = the job still runs. */
    @Nullable
    AcknowledgeType outcome() {
        return outcome.get();
    }

    /** Runs the work on a thread of its own: of the platform's, since nobody can tell how much it computes. */
    void start(Runnable work) {
        Thread own = Thread.ofPlatform()
                .daemon()
                .name("request-" + consumed.partition() + "-" + consumed.offset())
                .unstarted(work);
        thread.set(own);
        own.start();
    }

    void interrupt() {
        Thread running = thread.get();
        if (running != null) {
            running.interrupt();
        }
    }

    // the rest is for the consumer's thread only

    /** Whether the outcome is there and the broker has not been told yet. */
    boolean isDue() {
        return locked && !acknowledged && outcome.get() != null;
    }

    void acknowledged() {
        acknowledged = true;
    }

    /** Whether the broker still holds the record for this worker, waiting for the outcome. */
    boolean isHeld() {
        return locked && !acknowledged;
    }

    /** The broker has given the record to somebody else; there is nothing left to tell it. */
    void lockLost() {
        locked = false;
    }
}
