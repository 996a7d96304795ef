package dev.millrace.agent.topology;

import dev.millrace.schemas.CustomEventType;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.StreamType;
import java.time.Duration;
import java.time.Instant;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;

/** Tells an event from outside that comes a second time. For one stream thread. */
final class SeenEvents {

    private static final byte[] NOTHING = {};

    private final WindowStore<String, byte[]> store;
    private final Duration retention;

    SeenEvents(WindowStore<String, byte[]> store, Duration retention) {
        this.store = store;
        this.retention = retention;
    }

    /** Whether the ids of such events are kept: replies are told apart by their call ids, and need no memory. */
    static boolean isExternal(Event event) {
        return switch (event.type()) {
            case KnownEventType type ->
                type.segment() == Segment.SYSTEM
                        || type.segment() == Segment.EXTERNAL
                        || type.segment() == Segment.TASK;
            case StreamType type -> false;
            case CustomEventType type -> true;
        };
    }

    boolean contains(Event event, Instant now) {
        String key = TaskStores.seenKey(event.namespace(), event.id());
        try (WindowStoreIterator<byte[]> found = store.fetch(key, now.minus(retention), now)) {
            return found.hasNext();
        }
    }

    void add(Event event, Instant now) {
        store.put(TaskStores.seenKey(event.namespace(), event.id()), NOTHING, now.toEpochMilli());
    }
}
