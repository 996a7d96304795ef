package dev.millrace.agent.topology;

import dev.millrace.schemas.CustomEventType;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.StreamType;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Predicate;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;

/**
 * Tells an event from outside that comes a second time. That of one which has started a task is not kept beside the
 * task's row, which has the same id. For one stream thread.
 */
final class SeenEvents {

    private static final byte[] NOTHING = {};

    private final WindowStore<String, byte[]> store;
    private final Duration retention;
    private final Predicate<String> isTask;

    /**
     * As the store has them.
     *
     * @param isTask whether there is a task with this key, whose row is kept for as long as ids are
     */
    SeenEvents(WindowStore<String, byte[]> store, Duration retention, Predicate<String> isTask) {
        this.store = store;
        this.retention = retention;
        this.isTask = isTask;
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
        if (isTask.test(Event.qualified(event.namespace(), event.id()))) {
            return true;
        }
        String key = TaskStores.seenKey(event.namespace(), event.id());
        try (WindowStoreIterator<byte[]> found = store.fetch(key, now.minus(retention), now)) {
            return found.hasNext();
        }
    }

    void add(Event event, Instant now) {
        if (!isTask.test(Event.qualified(event.namespace(), event.id()))) {
            add(event.namespace(), event.id(), now);
        }
    }

    /** The row of a task is removed before its time, and what started it is still known. */
    void add(String namespace, String id, Instant now) {
        store.put(TaskStores.seenKey(namespace, id), NOTHING, now.toEpochMilli());
    }
}
