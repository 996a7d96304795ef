package dev.millrace.gateway.kafka;

import dev.millrace.gateway.kafka.JournalFilter.Labels;
import dev.millrace.gateway.kafka.Mailbox.Letter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One partition that is being tailed: who listens to it, how far it is read, and its last records, from which a
 * listener that begins only a little behind is served without a backfill. For the tail's thread alone.
 */
final class PartitionTail {
    private static final Logger LOGGER = LoggerFactory.getLogger(PartitionTail.class);

    private final int partition;
    private final int maxRecent;
    private final List<Feed> feeds = new ArrayList<>();
    private final Deque<ConsumerRecord<byte[], byte[]>> recent = new ArrayDeque<>();
    private long recentWeight;
    private long recentFrom;
    private volatile long position;
    private volatile long told;
    private long idleSince;

    /**
     * Begins with the record at {@code position}.
     *
     * @param maxRecent how many bytes of records are kept
     */
    PartitionTail(int partition, long position, int maxRecent, long nowNanos) {
        this.partition = partition;
        this.position = position;
        this.told = position;
        this.recentFrom = position;
        this.maxRecent = maxRecent;
        this.idleSince = nowNanos;
    }

    int partition() {
        return partition;
    }

    /** Everything before this offset has been told. For any thread. */
    long told() {
        return told;
    }

    /** The offset of the next record that is told. For any thread. */
    long position() {
        return position;
    }

    /** From now on this listener is told too; whether it needs a backfill. */
    boolean add(Feed feed) {
        feeds.add(feed);
        boolean backfill = feed.from() < recentFrom;
        feed.begin(backfill ? position : feed.from());
        if (!backfill) {
            for (ConsumerRecord<byte[], byte[]> consumed : recent) {
                if (consumed.offset() >= feed.from()) {
                    tell(consumed, List.of(feed));
                }
            }
        }
        feed.follow(this::told);
        return backfill;
    }

    /** Tells a record to all who want it. */
    void tell(ConsumerRecord<byte[], byte[]> consumed) {
        if (consumed.offset() < position) {
            return;
        }
        position = consumed.offset() + 1;
        recent.add(consumed);
        recentWeight += Letter.weight(consumed);
        while (recentWeight > maxRecent) {
            ConsumerRecord<byte[], byte[]> oldest = recent.remove();
            recentWeight -= Letter.weight(oldest);
            recentFrom = oldest.offset() + 1;
        }
        tell(consumed, feeds);
        told = position;
    }

    /** What fails for a reason of ours costs this record, not those after it. */
    private static void tell(ConsumerRecord<byte[], byte[]> consumed, List<Feed> listening) {
        if (listening.isEmpty() || !JournalFilter.isShown(consumed.headers())) {
            return;
        }
        try {
            Labels labels = Labels.of(consumed.headers(), consumed.timestamp());
            @Nullable Letter letter = null;
            for (Feed feed : listening) {
                if (feed.filter().wants(labels)) {
                    letter = letter == null ? Letter.of(consumed) : letter;
                    if (letter == null) {
                        return;
                    }
                    feed.live(letter);
                }
            }
        } catch (RuntimeException e) {
            LOGGER.atError()
                    .addKeyValue("topic", consumed.topic())
                    .addKeyValue("partition", consumed.partition())
                    .addKeyValue("offset", consumed.offset())
                    .setCause(e)
                    .log("A record could not be told to those who listen and is passed over");
        }
    }

    /** The partition is another one now, or has lost its end: what comes next has this offset, for all who listen. */
    void restart(long from) {
        recent.clear();
        recentWeight = 0;
        recentFrom = from;
        position = from;
        told = from;
        feeds.forEach(feed -> feed.restart(from));
    }

    /** Forgets listeners that are gone; whether nobody has listened for this long. */
    boolean idle(long nowNanos, long lingerNanos) {
        feeds.removeIf(feed -> feed.mailbox().isOver());
        if (!feeds.isEmpty()) {
            idleSince = nowNanos;
            return false;
        }
        return nowNanos - idleSince >= lingerNanos;
    }

    int listeners() {
        return feeds.size();
    }

    /** Nobody is told anything any more. */
    void drop(ListenerDroppedException reason) {
        feeds.forEach(feed -> feed.mailbox().drop(reason));
        feeds.clear();
    }
}
