package dev.millrace.schemas;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A place in the journal: what HTTP clients hold to ask for "everything after this". Cursors of one conversation share
 * the partition, and there a greater offset is later; across partitions the order means nothing.
 *
 * @param partition the journal's partition, 0 or more
 * @param offset the record's offset there, 0 or more
 */
public record JournalCursor(int partition, long offset) implements Comparable<JournalCursor> {

    private static final Pattern TEXT = Pattern.compile("(\\d{1,9}):(\\d{1,18})");
    private static final Comparator<JournalCursor> ORDER =
            Comparator.comparingInt(JournalCursor::partition).thenComparingLong(JournalCursor::offset);

    public JournalCursor {
        if (partition < 0 || offset < 0) {
            throw new IllegalArgumentException(
                    "cursor: expected a partition and an offset of 0 or more, found " + partition + ':' + offset);
        }
    }

    /** Reads what {@link #toString} wrote; empty if the text is anything else. */
    public static Optional<JournalCursor> parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        return matcher.matches()
                ? Optional.of(new JournalCursor(Integer.parseInt(matcher.group(1)), Long.parseLong(matcher.group(2))))
                : Optional.empty();
    }

    @Override
    public int compareTo(JournalCursor other) {
        return ORDER.compare(this, other);
    }

    /** {@code <partition>:<offset>}, as it stands in JSON, in {@code Last-Event-ID} and in {@code ?after=}. */
    @Override
    public String toString() {
        return partition + ":" + offset;
    }
}
