package dev.millrace.gateway.kafka;

import dev.millrace.gateway.kafka.ListenerDroppedException.Reason;
import dev.millrace.gateway.kafka.Mailbox.Letter;
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

/** Reads for one listener what lies between its beginning and the tail, with a consumer of its own, and ends. */
final class Backfill implements Runnable {
    private static final Logger LOGGER = LoggerFactory.getLogger(Backfill.class);
    private static final Duration POLL = Duration.ofMillis(500);

    private final Feed feed;
    private final JournalReader reader;
    private final Semaphore permits;
    private final Duration patience;

    /**
     * To be run on a thread of its own.
     *
     * @param permits how many may run at once; the others wait
     * @param patience how long a listener may leave its mailbox full before it is dropped
     */
    Backfill(Feed feed, JournalReader reader, Semaphore permits, Duration patience) {
        this.feed = feed;
        this.reader = reader;
        this.permits = permits;
        this.patience = patience;
    }

    @Override
    public void run() {
        BackOff backOff = new BackOff();
        try {
            permits.acquire();
            try {
                while (!attempt()) {
                    Thread.sleep(backOff.next());
                }
            } finally {
                permits.release();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            feed.mailbox().drop(new ListenerDroppedException(Reason.CLOSED));
        }
    }

    /** Reads on from where the feed is; whether there is no more to do. */
    private boolean attempt() throws InterruptedException {
        TopicPartition partition = reader.partition(feed.partition());
        try (Consumer<byte[], byte[]> consumer = reader.open("backfill")) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, feed.from());
            while (!feed.mailbox().isOver()) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
                for (ConsumerRecord<byte[], byte[]> consumed : records) {
                    if (feed.backfilledUpTo(consumed.offset())) {
                        return true;
                    }
                    tell(consumed);
                }
                if (feed.backfilledUpTo(consumer.position(partition))) {
                    return true;
                }
            }
            return true;
        } catch (InterruptException e) {
            throw new InterruptedException(e.getMessage());
        } catch (KafkaException e) {
            LOGGER.atWarn()
                    .addKeyValue("partition", feed.partition())
                    .setCause(e)
                    .log("Reading the journal for a listener failed and is tried again");
            return false;
        }
    }

    private void tell(ConsumerRecord<byte[], byte[]> consumed) throws InterruptedException {
        if (feed.filter().wants(JournalReader.labels(consumed))) {
            Letter letter = JournalReader.letter(consumed);
            if (letter != null && !feed.mailbox().offer(letter, patience)) {
                feed.mailbox().drop(new ListenerDroppedException(Reason.TOO_SLOW));
            }
        }
    }
}
