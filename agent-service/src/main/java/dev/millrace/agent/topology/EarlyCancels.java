package dev.millrace.agent.topology;

import dev.millrace.schemas.Event;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.jspecify.annotations.Nullable;

/**
 * Requests to cancel tasks that are not there yet: a cancel overtakes the backlog that the start of its task still
 * stands in. For one stream thread.
 */
final class EarlyCancels {

    /** As long as ids of events are remembered by default; a start that comes later starts. */
    static final Duration RETENTION = Duration.ofHours(24);

    private final WindowStore<String, Event> store;

    EarlyCancels(WindowStore<String, Event> store) {
        this.store = store;
    }

    void add(String taskKey, Event cancel, Instant now) {
        store.put(taskKey, cancel, now.toEpochMilli());
    }

    /**
     * Forgets some of these requests.
     *
     * @param from where to begin, as the call before said; empty = with the first
     * @param most how many to look at
     * @param meant whether a request is to be forgotten
     * @param beforeMs only those that were taken up to this moment, in Unix milliseconds
     * @return where to go on; {@code null} = all have been looked at
     */
    @Nullable
    String forget(String from, int most, Predicate<Event> meant, long beforeMs) {
        List<Windowed<String>> found = new ArrayList<>();
        String next = null;
        Instant last = Instant.ofEpochMilli(beforeMs);
        try (KeyValueIterator<Windowed<String>, Event> all =
                store.fetch(from.isEmpty() ? null : from, null, last.minus(RETENTION), last)) {
            for (int looked = 0; all.hasNext() && next == null; looked++) {
                KeyValue<Windowed<String>, Event> one = all.next();
                if (looked >= most
                        && !one.key
                                .key()
                                .equals(found.isEmpty() ? "" : found.getLast().key())) {
                    next = one.key.key();
                } else if (meant.test(one.value)) {
                    found.add(one.key);
                }
            }
        }
        found.forEach(key -> store.put(key.key(), null, key.window().start()));
        return next;
    }

    /**
     * The request to cancel this task, which has just come, also if it was taken by a clock that is ahead; {@code null}
     * = there is none.
     */
    @Nullable
    Event of(String taskKey, Instant now) {
        try (WindowStoreIterator<Event> found = store.fetch(taskKey, now.minus(RETENTION), now.plus(RETENTION))) {
            if (!found.hasNext()) {
                return null;
            }
            KeyValue<Long, Event> first = found.next();
            return first.value;
        }
    }
}
