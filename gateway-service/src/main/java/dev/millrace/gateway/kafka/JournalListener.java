package dev.millrace.gateway.kafka;

import dev.millrace.schemas.JournalEntry;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Takes entries of the journal as they come. For one thread; {@link #close} for any. */
public final class JournalListener implements AutoCloseable {
    private final Mailbox mailbox;
    private final Map<Integer, Feed> feeds;
    private final Runnable onClose;

    JournalListener(Mailbox mailbox, Map<Integer, Feed> feeds, Runnable onClose) {
        this.mailbox = mailbox;
        this.feeds = Map.copyOf(feeds);
        this.onClose = onClose;
    }

    /**
     * Waits for the next entry.
     *
     * @return {@code null} if none came within this time
     * @throws ListenerDroppedException if there will be no more; everything before it has been returned
     */
    public @Nullable JournalEntry next(Duration atMost) throws InterruptedException, ListenerDroppedException {
        return mailbox.take(atMost);
    }

    /**
     * Every wanted entry of this partition before this offset has been returned, or would be by {@link #next} at once.
     */
    long readUpTo(int partition) {
        Feed feed = feeds.get(partition);
        return feed == null ? Long.MAX_VALUE : feed.readUpTo();
    }

    /** No more entries are wanted. */
    @Override
    public void close() {
        mailbox.close();
        onClose.run(); // more than once does no harm
    }
}
