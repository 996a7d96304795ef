package dev.millrace.reflection.topology;

import dev.millrace.engine.Sender;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Forgets what a namespace remembers, and reflections on tasks that are forgotten, once the task machine has said that it has
 * forgotten them. Calls that were made before do not bring anything back. For one stream thread.
 */
final class Forgetting {

    /** Longer than any request stays on its topic. */
    private static final Duration REMEMBERED = Duration.ofDays(7);

    private final KeyValueStore<String, Long> store;
    private final Reflections reflections;
    private final Function<String, NamespaceDocuments> memory;
    private final Outlet outlet;

    /** Where it says what it has done. */
    record Outlet(Sender sender, Topics topics) {}

    /**
     * That of one partition.
     *
     * @param store when namespaces were forgotten, in Unix milliseconds
     * @param memory the documents of a namespace
     */
    Forgetting(
            KeyValueStore<String, Long> store,
            Reflections reflections,
            Function<String, NamespaceDocuments> memory,
            Outlet outlet) {
        this.store = store;
        this.reflections = reflections;
        this.memory = memory;
        this.outlet = outlet;
    }

    /** Takes TASKS_FORGOTTEN. */
    void take(Event forgotten, Instant now) {
        ForgetScope scope = ForgetScope.of(forgotten).orElse(null);
        if (scope == null) {
            return;
        }
        dropOld(now);
        Reflections.GivenUp givenUp = reflections.forget(scope);
        long documents = 0;
        if (scope.containsMemory()) {
            documents = memory.apply(scope.namespace()).forget(forgotten.id(), now);
            Long before = store.get(scope.namespace());
            store.put(scope.namespace(), Math.max(askedAt(forgotten), before == null ? 0 : before));
        }
        Map<String, @Nullable Object> payload = scope.payload(ForgetScope.forgetId(forgotten));
        payload.put("documents", documents);
        payload.put("reflections", givenUp.reflections());
        if (!givenUp.modelCalls().isEmpty()) {
            payload.put("modelCalls", givenUp.modelCalls());
        }
        Event done = forgotten
                .derive(KnownEventType.MEMORY_FORGOTTEN, 0, now)
                .source("memory")
                .payload(payload)
                .build();
        outlet.sender().send(outlet.topics().lane(done.lane()), done.sessionKey(), done, now, Map.of());
    }

    /** Whether this was asked for before its namespace was to be forgotten. */
    boolean covers(Event request) {
        Long asked = store.get(request.namespace());
        return asked != null && request.timestamp().toEpochMilli() <= asked;
    }

    private void dropOld(Instant now) {
        List<String> old = new ArrayList<>();
        try (KeyValueIterator<String, Long> all = store.all()) {
            all.forEachRemaining(row -> {
                if (row.value < now.minus(REMEMBERED).toEpochMilli()) {
                    old.add(row.key);
                }
            });
        }
        old.forEach(store::delete);
    }

    private static long askedAt(Event forgotten) {
        return forgotten.payload().get("requestedAt") instanceof Number asked ? asked.longValue() : 0;
    }
}
