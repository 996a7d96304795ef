package dev.millrace.gateway.kafka;

import dev.millrace.gateway.kafka.ListenerDroppedException.Reason;
import dev.millrace.gateway.kafka.Mailbox.Letter;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What may wait in all mailboxes together, in bytes. When it is full, the listener that lags most is dropped first, so
 * that those who keep up never notice. A letter in many mailboxes counts once. For any thread; a caller holds no lock
 * of a mailbox.
 */
public final class MailboxBudget {
    private final long limit;
    private final AtomicLong held = new AtomicLong();
    private final Set<Mailbox> mailboxes = ConcurrentHashMap.newKeySet();

    /**
     * Empty.
     *
     * @param limit in bytes, 1 or more
     */
    public MailboxBudget(long limit) {
        if (limit < 1) {
            throw new IllegalArgumentException("limit: expected 1 or more, found " + limit);
        }
        this.limit = limit;
    }

    /** What waits now, in bytes. */
    public long held() {
        return held.get();
    }

    void open(Mailbox mailbox) {
        mailboxes.add(mailbox);
    }

    void close(Mailbox mailbox) {
        mailboxes.remove(mailbox);
    }

    /** Whether this mailbox may have the letter: not, if there is no room and nobody lags more than this one. */
    boolean take(Letter letter, Mailbox taker) {
        if (letter.holders().getAndIncrement() == 0) {
            held.addAndGet(letter.weight());
        }
        while (held.get() > limit) {
            Optional<Mailbox> most = mailboxes.stream().max(Comparator.comparingLong(Mailbox::weight));
            if (most.isEmpty() || most.get().weight() == 0) {
                return true; // larger than everything together may be, and the only one
            }
            if (most.get() == taker) {
                give(letter);
                return false;
            }
            most.get().evict(new ListenerDroppedException(Reason.TOO_SLOW));
        }
        return true;
    }

    /** A mailbox does not have this letter any more. */
    void give(Letter letter) {
        if (letter.holders().decrementAndGet() == 0) {
            held.addAndGet(-letter.weight());
        }
    }
}
