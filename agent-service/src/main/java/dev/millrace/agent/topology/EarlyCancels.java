package dev.millrace.agent.topology;

import dev.millrace.schemas.Event;
import java.time.Duration;
import java.time.Instant;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.jspecify.annotations.Nullable;

/**
 * Requests to cancel tasks that are not there yet: a cancel overtakes the backlog that the start of its task still stands
 * in. For one stream thread.
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

    /** The request to cancel this task, which has just come; {@code null} = there is none. */
    @Nullable
    Event of(String taskKey, Instant now) {
        try (WindowStoreIterator<Event> found = store.fetch(taskKey, now.minus(RETENTION), now)) {
            if (!found.hasNext()) {
                return null;
            }
            KeyValue<Long, Event> first = found.next();
            return first.value;
        }
    }
}
