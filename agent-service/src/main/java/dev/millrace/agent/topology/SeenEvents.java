package dev.millrace.agent.topology;

import dev.millrace.schemas.CustomEventType;
import dev.millrace.schemas.EnvironmentType;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.StreamType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.jspecify.annotations.Nullable;

/**
 * Tells an event from outside that comes a second time. That of one which has started a task is not kept beside the
 * task's row, which has the same id. What was kept by a clock that is ahead of this one counts as well. For one stream
 * thread.
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
                        || type.segment() == Segment.TASK
                        // no machine sends them without being asked to
                        || type == KnownEventType.RAG_INGEST
                        || type == KnownEventType.ENTITY_EXTRACT;
            case StreamType type -> false;
            case EnvironmentType type -> true;
            case CustomEventType type -> true;
        };
    }

    /** Whether an event has come before. */
    enum Before {
        /** It has not. */
        NEVER,
        /** It has. */
        SEEN,
        /** Another source has sent one with its id, and this one has not. */
        ID_OF_ANOTHER_SOURCE
    }

    /** Events are told apart by source and id; what starts a task gives it its id, which is the task's alone. */
    Before before(Event event, Instant now) {
        if (!event.type().isOpen() && isTask.test(Event.qualified(event.namespace(), event.id()))) {
            return Before.SEEN;
        }
        byte[] first = fetch(TaskStores.seenKey(event.namespace(), event.id()), now);
        if (first == null) {
            return Before.NEVER;
        }
        boolean own = first.length == 0
                || Arrays.equals(first, source(event))
                || fetch(TaskStores.seenKey(event.namespace(), event.id(), event.source()), now) != null;
        return own ? Before.SEEN : Before.ID_OF_ANOTHER_SOURCE;
    }

    private byte @Nullable [] fetch(String key, Instant now) {
        byte[] found = null;
        try (WindowStoreIterator<byte[]> values = store.fetch(key, now.minus(retention), now.plus(retention))) {
            while (values.hasNext()) {
                found = values.next().value;
            }
        }
        return found;
    }

    void add(Event event, Instant now) {
        if (!event.type().isOpen() && isTask.test(Event.qualified(event.namespace(), event.id()))) {
            return;
        }
        String key = TaskStores.seenKey(event.namespace(), event.id());
        byte[] first = fetch(key, now);
        if (first == null || first.length == 0 || Arrays.equals(first, source(event))) {
            store.put(key, first == null ? source(event) : first, now.toEpochMilli());
        } else {
            store.put(TaskStores.seenKey(event.namespace(), event.id(), event.source()), NOTHING, now.toEpochMilli());
        }
    }

    /** What was put aside after all may come again: what is wrong with it is mended, and it is sent once more. */
    void remove(Event event, Instant now) {
        String key = TaskStores.seenKey(event.namespace(), event.id());
        List<Long> times = new ArrayList<>();
        try (WindowStoreIterator<byte[]> values = store.fetch(key, now.minus(retention), now.plus(retention))) {
            values.forEachRemaining(value -> times.add(value.key));
        }
        times.forEach(time -> store.put(key, null, time));
    }

    /** The row of a task is removed before its time, and what started it is still known, whoever sent it. */
    void add(String namespace, String id, Instant now) {
        store.put(TaskStores.seenKey(namespace, id), NOTHING, now.toEpochMilli());
    }

    /** Never empty, which is what an older version wrote, and then any source counts. */
    private static byte[] source(Event event) {
        return ("by " + event.source()).getBytes(StandardCharsets.UTF_8);
    }
}
