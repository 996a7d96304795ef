package dev.millrace.requests;

import dev.millrace.kafka.ClientSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.ShareConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One share consumer on a thread of its own: waits for its turn, polls until it has a batch, has the batch done, tells
 * the broker, and again.
 */
final class Taker implements Runnable {
    private static final Logger LOGGER = LoggerFactory.getLogger(RequestWorker.class);

    /**
     * How long one poll waits. Long, because a poll that is begun while the fetch of the one before is still under way
     * may make Kafka's client fetch twice, and what comes second lies locked and unseen in it while the first is worked
     * on.
     */
    private static final Duration POLL = Duration.ofSeconds(10);

    /** How often a batch that is held up by slow jobs is looked at. */
    private static final Duration LOOK = Duration.ofMillis(50);
    /** Brokers close connections that were silent for 10 minutes, and the locks go with the connection. */
    private static final Duration LONGEST_SILENCE = Duration.ofMinutes(4);

    private static final Duration ACKNOWLEDGE_LIMIT = Duration.ofSeconds(15);

    private final Pool pool;
    private final PollTurns.Seat seat;
    private final ShareConsumer<byte[], byte[]> consumer;
    private final StallWatch watch;
    private boolean subscribed;

    Taker(Pool pool, PollTurns.Seat seat) {
        this.pool = pool;
        this.seat = seat;
        this.consumer = new KafkaShareConsumer<>(
                config(pool, seat.size()).values(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        this.watch = new StallWatch(consumer);
        consumer.setAcknowledgementCommitCallback((offsets, failure) -> {
            if (failure != null) {
                LOGGER.atWarn()
                        .addKeyValue("topic", pool.settings().topic())
                        .addKeyValue("reason", failure.toString())
                        .log("Kafka did not take an acknowledgement, the request will be delivered again");
            }
        });
    }

    @Override
    public void run() {
        try {
            while (awaitTurn()) {
                ConsumerRecords<byte[], byte[]> records = pollForBatch();
                if (pool.turns().isClosed()) {
                    giveBack(records);
                    return;
                }
                pool.succeeded();
                pool.turns().taken(seat, records.count());
                work(Batch.start(records, pool, seat));
            }
        } catch (KafkaException | IllegalStateException e) {
            pool.failed(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            close();
            pool.turns().leave(seat);
        }
    }

    /** Gets a poll that is stuck going again; from another thread. See {@link StallWatch}. */
    void nudge() {
        watch.nudge();
    }

    /** Ends a poll that is under way, when no more turns are given; from another thread. */
    void stopPolling() {
        consumer.wakeup();
    }

    private boolean awaitTurn() throws InterruptedException {
        if (!pool.turns().tryTake(seat)) {
            leaveGroup();
            if (!pool.turns().awaitTake(seat)) {
                return false;
            }
        }
        if (!subscribed) {
            consumer.subscribe(List.of(pool.settings().topic()));
            subscribed = true;
        }
        return true;
    }

    /** A consumer that came back from a poll with nothing may still get records, so it goes on until it has some. */
    private ConsumerRecords<byte[], byte[]> pollForBatch() {
        ConsumerRecords<byte[], byte[]> batch = ConsumerRecords.empty();
        watch.begin();
        while (batch.isEmpty() && !pool.turns().isClosed()) {
            try {
                batch = consumer.poll(POLL);
            } catch (WakeupException e) {
                LOGGER.trace("Polling again");
            }
        }
        watch.end();
        return batch;
    }

    private void giveBack(ConsumerRecords<byte[], byte[]> records) {
        records.forEach(consumed -> consumer.acknowledge(consumed, AcknowledgeType.RELEASE));
    }

    private void work(Batch batch) throws InterruptedException {
        long renewedAt = System.nanoTime();
        Duration wait = PollTurns.PATIENCE;
        while (!batch.awaitSettled(wait)) {
            wait = LOOK;
            tellBroker(batch);
            leaveGroup();
            if (System.nanoTime() - renewedAt > renewEvery().toNanos()) {
                renew(batch);
                renewedAt = System.nanoTime();
            }
        }
        if (acknowledge(batch)) {
            commit();
        }
    }

    private void tellBroker(Batch batch) {
        if (acknowledge(batch)) {
            consumer.commitAsync();
        }
    }

    /**
     * Sends the acknowledgements and waits for the answer, so that none is under way when {@link StallWatch} begins.
     */
    private void commit() throws InterruptedException {
        try {
            consumer.commitSync(ACKNOWLEDGE_LIMIT);
        } catch (WakeupException e) {
            // a nudge that came too late; the acknowledgements are on their way, this gives them time to arrive
            TimeUnit.NANOSECONDS.sleep(LOOK.toNanos());
        }
    }

    private boolean acknowledge(Batch batch) {
        List<Job> due = batch.due();
        for (Job job : due) {
            AcknowledgeType outcome = job.outcome();
            consumer.acknowledge(job.consumed(), outcome == null ? AcknowledgeType.RELEASE : outcome);
            job.acknowledged();
        }
        return !due.isEmpty();
    }

    private Duration renewEvery() {
        Duration half = consumer.acquisitionLockTimeoutMs()
                .map(lock -> Duration.ofMillis(lock).dividedBy(2))
                .orElse(LONGEST_SILENCE);
        return half.compareTo(LONGEST_SILENCE) < 0 ? half : LONGEST_SILENCE;
    }

    /**
     * Renews the lock of every job that still runs. The renewal goes out by a commit and not by a poll: a poll would
     * fetch as well, and what it fetched would lie locked and untouched in the consumer until this batch is done.
     */
    private void renew(Batch batch) throws InterruptedException {
        tellBroker(batch);
        List<Job> held = batch.held();
        held.forEach(job -> consumer.acknowledge(job.consumed(), AcknowledgeType.RENEW));
        commit();
        boolean returning = !subscribed;
        if (returning) {
            consumer.subscribe(List.of(pool.settings().topic()));
            subscribed = true;
        }
        ConsumerRecords<byte[], byte[]> renewed = consumer.poll(Duration.ZERO);
        if (returning) {
            leaveGroup();
        }
        int lost = batch.keepOnly(renewed);
        if (lost == held.size() && lost > 0) {
            // nothing is held any more, so the poll has fetched: closing gives back what it got
            throw new KafkaException("the locks on all " + lost + " running requests of a consumer are lost");
        }
        if (lost > 0) {
            LOGGER.atWarn()
                    .addKeyValue("topic", pool.settings().topic())
                    .addKeyValue("lost", lost)
                    .log("The lock on running requests could not be renewed, they may run twice");
        }
    }

    /**
     * Members of a share group have the partitions divided among them, so one that does not poll would hold up its
     * partitions. Locks belong to the connection, not to the membership: they stay.
     */
    private void leaveGroup() {
        if (subscribed && !pool.everyMemberHasAll()) {
            consumer.unsubscribe();
            subscribed = false;
        }
    }

    private void close() {
        try {
            consumer.close(Duration.ofSeconds(5));
        } catch (KafkaException e) {
            LOGGER.debug("A share consumer did not close in order", e);
        }
    }

    private static ClientSettings config(Pool pool, int size) {
        WorkerSettings settings = pool.settings();
        return settings.kafka()
                .with(ConsumerConfig.GROUP_ID_CONFIG, settings.group())
                .with(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, size)
                // one that waits for its turn does not poll, and that is no reason to throw it out
                .with(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, Integer.MAX_VALUE)
                .with(ConsumerConfig.SHARE_ACKNOWLEDGEMENT_MODE_CONFIG, "explicit")
                // the default mode takes whole batches of the producer, however many records are wanted
                .with(ConsumerConfig.SHARE_ACQUIRE_MODE_CONFIG, "record_limit")
                // in this mode one broker at a time is asked, and the others wait until it has answered
                .with(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, pool.everyMemberHasAll() ? 500 : 50)
                .with(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 10_000);
    }
}
