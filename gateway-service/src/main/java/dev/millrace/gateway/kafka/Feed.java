package dev.millrace.gateway.kafka;

import dev.millrace.gateway.kafka.ListenerDroppedException.Reason;
import dev.millrace.gateway.kafka.Mailbox.Letter;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Fills one listener's mailbox from one partition, each wanted record once and in order, out of two sources: the tail,
 * which tells every record that it comes to, and, when the listener begins behind the tail, a backfill, which reads
 * what lies between. While the backfill runs, what the tail tells is kept aside; the backfill ends exactly where the
 * tail began to tell ({@code liveFrom}), and then what was kept aside follows. Should too much be kept aside, it is
 * given up and the backfill has to come as far as the tail then is.
 */
final class Feed {
    private final int partition;
    private final JournalFilter filter;
    private final Mailbox mailbox;

    private final ReentrantLock lock = new ReentrantLock();
    private boolean backfilling;
    private long liveFrom;
    private long nextOffset;
    private @Nullable LongSupplier tail;

    /** Begins with the record at {@code from}. */
    Feed(int partition, long from, JournalFilter filter, Mailbox mailbox) {
        this.partition = partition;
        this.filter = filter;
        this.mailbox = mailbox;
        this.nextOffset = from;
    }

    int partition() {
        return partition;
    }

    JournalFilter filter() {
        return filter;
    }

    Mailbox mailbox() {
        return mailbox;
    }

    /**
     * The tail tells every record from this offset on to {@link #live}. To be called before the first of them, on the
     * tail's thread.
     *
     * @return whether there is something to backfill; if so, it has begun
     */
    boolean begin(long tailPosition) {
        lock.lock();
        try {
            liveFrom = tailPosition;
            backfilling = nextOffset < tailPosition;
            return backfilling;
        } finally {
            lock.unlock();
        }
    }

    /** To be called after {@link #begin} and what is told at once: how far the tail has told everything. */
    void follow(LongSupplier told) {
        lock.lock();
        try {
            tail = told;
        } finally {
            lock.unlock();
        }
    }

    /** Every wanted record before this offset is, or was, in the mailbox; -1 if it has not begun. */
    long readUpTo() {
        lock.lock();
        try {
            return tail == null ? -1 : backfilling ? nextOffset : tail.getAsLong();
        } finally {
            lock.unlock();
        }
    }

    /** Where the backfill has to begin. */
    long from() {
        lock.lock();
        try {
            return nextOffset;
        } finally {
            lock.unlock();
        }
    }

    /** A wanted record from the tail. */
    void live(Letter letter) {
        long offset = letter.offset();
        lock.lock();
        try {
            if (offset < nextOffset || offset < liveFrom) {
                return;
            }
            if (!backfilling) {
                nextOffset = offset + 1;
                if (!mailbox.offer(letter)) {
                    mailbox.drop(new ListenerDroppedException(Reason.TOO_SLOW));
                }
            } else if (!mailbox.setAside(partition, letter)) {
                mailbox.forgetAside(partition);
                liveFrom = offset + 1;
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * The backfill has told everything below this offset. If that is all that it has to, what was kept aside follows.
     *
     * @return whether the backfill is over
     */
    boolean backfilledUpTo(long offset) {
        lock.lock();
        try {
            if (!backfilling) {
                return true;
            }
            nextOffset = Math.max(nextOffset, offset);
            if (offset < liveFrom) {
                return false;
            }
            backfilling = false;
            nextOffset = mailbox.addAside(partition, nextOffset);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The partition is another one now, or has lost its end: the tail tells it from this offset on. On the tail's
     * thread.
     */
    void restart(long from) {
        lock.lock();
        try {
            mailbox.forgetAside(partition);
            backfilling = false;
            liveFrom = from;
            nextOffset = from;
        } finally {
            lock.unlock();
        }
    }
}
