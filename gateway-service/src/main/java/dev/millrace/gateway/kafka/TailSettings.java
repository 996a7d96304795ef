package dev.millrace.gateway.kafka;

import java.time.Duration;

/**
 * The limits of a {@link JournalTail}.
 *
 * @param partitions how many partitions the journal has, 1 or more
 * @param mailboxBytes how far a listener may lag before it is dropped, in bytes of memory, 64 KiB or more; as much may
 *     be kept aside for it while it reads old records
 * @param patience how long a listener that reads old records may not take any before it is dropped
 * @param linger how long a partition is still read after its last listener has gone
 * @param backfills how many listeners may read old records at the same time, 1 or more; the others wait
 */
public record TailSettings(int partitions, int mailboxBytes, Duration patience, Duration linger, int backfills) {

    /** The least that {@link #mailboxBytes} may be. */
    public static final int MIN_MAILBOX_BYTES = 64 * 1024;

    public TailSettings {
        if (partitions < 1 || backfills < 1) {
            throw new IllegalArgumentException(
                    "partitions and backfills: expected 1 or more, found " + partitions + " and " + backfills);
        }
        if (mailboxBytes < MIN_MAILBOX_BYTES) {
            throw new IllegalArgumentException(
                    "mailboxBytes: expected " + MIN_MAILBOX_BYTES + " or more, found " + mailboxBytes);
        }
    }
}
