package dev.millrace.gateway.rest;

import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.JournalListener;
import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.rest.SsePump.ClientGoneException;
import dev.millrace.gateway.rest.SsePump.Outlet;
import dev.millrace.schemas.JournalEntry;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the journal is told from now on, or from where an earlier stream of this kind was cut off.
 *
 * @param from the offset of the next entry for each partition
 * @param teller what to make of an entry
 */
record LiveStream(JournalTail tail, JournalFilter filter, Map<Integer, Long> from, Duration heartbeat, Teller teller) {
    private static final Pattern PART = Pattern.compile("(\\d{1,9})@(\\d{1,18})(~\\d{1,18})?");

    /** Writes an entry to the client, or does not. */
    @FunctionalInterface
    interface Teller {
        /** Tells that every entry up to this one has been seen by giving its {@code id}. */
        void tell(Outlet outlet, String id, JournalEntry entry) throws InterruptedException, ClientGoneException;
    }

    /** Where a stream begins. */
    record Begin(Map<Integer, Long> from) {

        /**
         * After what the client has seen; now, if it has seen nothing.
         *
         * @throws ProblemException if the client gives something that is no {@code id} of such a stream
         */
        static Begin of(@Nullable String lastEventId, @Nullable String after, JournalTail tail, Duration atMost)
                throws BrokerUnavailableException, InterruptedException {
            String id = lastEventId == null || lastEventId.isBlank() ? after : lastEventId;
            if (id != null && !id.isBlank()) {
                Begin begin = new Begin(parse(id, tail.partitions())
                        .orElseThrow(() -> ProblemException.badParameter("after", "an id of this stream", id)));
                Reached.require(begin.from(), id, tail, atMost);
                return begin;
            }
            Map<Integer, Long> ends = new TreeMap<>();
            for (int partition = 0; partition < tail.partitions(); partition++) {
                ends.put(partition, tail.end(partition, atMost));
            }
            return new Begin(ends);
        }
    }

    /** Reads the {@code id} of an entry for all of so many partitions. */
    private static Optional<Map<Integer, Long>> parse(String id, int partitions) {
        return parse(id)
                .filter(from -> from.size() == partitions
                        && from.keySet().stream().allMatch(partition -> partition < partitions));
    }

    /**
     * Reads what {@link #id} wrote: {@code <partition>@<offset>} for one or more partitions; also an id of a stream with live
     * text.
     */
    static Optional<Map<Integer, Long>> parse(String id) {
        Map<Integer, Long> from = new TreeMap<>();
        for (String part : id.split(",", -1)) {
            Matcher matcher = PART.matcher(part.strip());
            if (!matcher.matches()) {
                return Optional.empty();
            }
            from.put(Integer.valueOf(matcher.group(1)), Long.valueOf(matcher.group(2)));
        }
        return Optional.of(from);
    }

    void run(Outlet outlet) throws InterruptedException, ListenerDroppedException, ClientGoneException {
        Map<Integer, Long> next = new TreeMap<>(from);
        try (JournalListener listener = tail.listen(from, filter)) {
            while (true) {
                outlet.ready();
                JournalEntry entry = listener.next(heartbeat);
                if (entry == null) {
                    outlet.heartbeat();
                } else {
                    next.put(entry.cursor().partition(), entry.cursor().offset() + 1);
                    teller.tell(outlet, id(next), entry);
                }
            }
        }
    }

    /** An offset for each partition, as text. */
    static String id(Map<Integer, Long> next) {
        return next.entrySet().stream()
                .map(part -> part.getKey() + "@" + part.getValue())
                .collect(Collectors.joining(","));
    }
}
