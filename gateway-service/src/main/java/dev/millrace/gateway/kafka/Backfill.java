package dev.millrace.gateway.kafka;

import dev.millrace.gateway.kafka.JournalFilter.Labels;
import dev.millrace.gateway.kafka.ListenerDroppedException.Reason;
import dev.millrace.gateway.kafka.Mailbox.Letter;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.Interrupts;
import dev.millrace.kafka.TopicLog;
import dev.millrace.schemas.Backoff;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads for one listener what lies between its beginning and the tail, in turns with consumers of their own, and ends.
 * A turn is short, and is over when the mailbox stays full: nobody waits for a listener that takes its time.
 */
final class Backfill implements Runnable {
    private static final Logger LOGGER = LoggerFactory.getLogger(Backfill.class);
    private static final ClientSettings SETTINGS = TopicLog.WHAT_IS_LEFT.with(TopicLog.NO_MORE);
    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration TURN = Duration.ofSeconds(2);
    /** So long a turn waits for a listener that takes its entries as they come: as a new turn would cost more. */
    private static final Duration BRIEFLY = Duration.ofMillis(50);
    /** Each turn costs a connection. */
    private static final Duration AFTER_FULL = Duration.ofMillis(20);

    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    private final Feed feed;
    private final TopicLog log;
    private final Semaphore permits;
    private final Duration patience;

    private enum Turn {
        /** There is no more to do. */
        DONE,
        /** The listener has to take something first. */
        FULL,
        /** The next turn goes on. */
        OVER,
        /** The brokers did not do their part. */
        FAILED
    }

    /**
     * To be run on a thread of its own.
     *
     * @param permits one for each turn at the same time; the others wait
     * @param patience how long a listener may leave its mailbox full before it is dropped
     */
    Backfill(Feed feed, TopicLog log, Semaphore permits, Duration patience) {
        this.feed = feed;
        this.log = log;
        this.permits = permits;
        this.patience = patience;
    }

    @Override
    public void run() {
        Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, "backfill");
        int failures = 0;
        try {
            for (Turn turn = turn(); turn != Turn.DONE; turn = turn()) {
                switch (turn) {
                    case FULL -> {
                        if (!feed.mailbox().awaitRoom(patience)) {
                            feed.mailbox().drop(new ListenerDroppedException(Reason.TOO_SLOW));
                        }
                        Thread.sleep(AFTER_FULL);
                    }
                    case FAILED -> Thread.sleep(backoff.after(++failures, null));
                    case OVER, DONE -> failures = 0;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            feed.mailbox().drop(new ListenerDroppedException(Reason.CLOSED));
        } catch (RuntimeException e) {
            LOGGER.atError()
                    .addKeyValue("partition", feed.partition())
                    .setCause(e)
                    .log(
                            "Reading the journal for a listener failed for a reason that nobody expected; it may come back");
            feed.mailbox().evict(new ListenerDroppedException(Reason.TOO_SLOW));
        }
    }

    private Turn turn() throws InterruptedException {
        permits.acquire();
        try {
            return read();
        } finally {
            permits.release();
        }
    }

    /** Reads on from where the feed is. */
    private Turn read() throws InterruptedException {
        TopicPartition partition = log.partition(feed.partition());
        long end = System.nanoTime() + TURN.toNanos();
        try (Consumer<byte[], byte[]> consumer = log.open("backfill", SETTINGS)) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, feed.from());
            while (!feed.mailbox().isOver()) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
                for (ConsumerRecord<byte[], byte[]> consumed : records) {
                    if (feed.backfilledUpTo(consumed.offset())) {
                        return Turn.DONE;
                    }
                    if (System.nanoTime() - end > 0) {
                        return Turn.OVER;
                    }
                    if (!tell(consumed)) {
                        return Turn.FULL;
                    }
                }
                if (feed.backfilledUpTo(consumer.position(partition))) {
                    return Turn.DONE;
                }
                if (System.nanoTime() - end > 0) {
                    return Turn.OVER;
                }
            }
            return Turn.DONE;
        } catch (InterruptException e) {
            throw Interrupts.of(e);
        } catch (KafkaException e) {
            LOGGER.atWarn()
                    .addKeyValue("partition", feed.partition())
                    .setCause(e)
                    .log("Reading the journal for a listener failed and is tried again");
            return Turn.FAILED;
        }
    }

    /** Whether there was room for it, or soon was. */
    private boolean tell(ConsumerRecord<byte[], byte[]> consumed) throws InterruptedException {
        if (!JournalFilter.isShown(consumed.headers())
                || !feed.filter().wants(Labels.of(consumed.headers(), consumed.timestamp()))) {
            return true;
        }
        Letter letter = Letter.of(consumed);
        return letter == null
                || feed.mailbox().offer(letter)
                || (feed.mailbox().awaitRoom(BRIEFLY) && feed.mailbox().offer(letter));
    }
}
