package dev.millrace.agent.topology;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Ids;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Events with which something is done when no other like them has come for a while: of each kind the last one. They
 * stand in rows, which are removed in the transaction in which something is done, so each counts once, whoever has the
 * partition. For one stream thread, and for one life of its stores.
 */
final class HeldEvents {

    /** As many kinds wait on a partition. */
    static final int MAX_HELD = 10_000;

    private final KeyValueStore<String, Row> store;
    private final Map<String, Long> dueAtMs = new HashMap<>();
    private final TreeSet<String> byTime = new TreeSet<>();

    /**
     * One that waits.
     *
     * @param ruleId the rule that took it
     * @param dueAtMs when it has been quiet for long enough, in Unix milliseconds
     */
    record Row(String ruleId, long dueAtMs, Event event) {}

    /** As the store has them. */
    HeldEvents(KeyValueStore<String, Row> store) {
        this.store = store;
        try (KeyValueIterator<String, Row> all = store.all()) {
            all.forEachRemaining(row -> remember(row.key, row.value.dueAtMs()));
        }
    }

    /** What events are of one kind by: their rule, their session, and what the rule says. */
    static String key(String ruleId, Event event, String kind) {
        String session = event.sessionId() == null ? "" : event.sessionId();
        return Ids.hash(ruleId + '\n' + event.namespace() + '\n' + session + '\n' + kind);
    }

    /**
     * Has an event wait, in the place of the one before it.
     *
     * @return false if too many wait, and it does not
     */
    boolean hold(String key, String ruleId, Event event, long untilMs) {
        if (!dueAtMs.containsKey(key) && dueAtMs.size() >= MAX_HELD) {
            return false;
        }
        forget(key);
        store.put(key, new Row(ruleId, untilMs, event));
        remember(key, untilMs);
        return true;
    }

    /** Keys of those for which it has been quiet for long enough, so many at most. */
    List<String> due(long nowMs, int most) {
        List<String> due = new ArrayList<>();
        for (String entry : byTime) {
            if (due.size() == most || TaskStores.timerTime(entry) > nowMs) {
                break;
            }
            due.add(entry.substring(TaskStores.timerKey(0, "").length()));
        }
        return due;
    }

    /** Takes one out; {@code null} = it is gone. */
    @Nullable
    Row take(String key) {
        forget(key);
        return store.delete(key);
    }

    /** Those that are in a scope are not waited with any more. */
    void forget(ForgetScope scope) {
        List<String> meant = new ArrayList<>();
        try (KeyValueIterator<String, Row> all = store.all()) {
            all.forEachRemaining(row -> {
                Event event = row.value.event();
                if (scope.contains(event.namespace(), null, event.sessionId())) {
                    meant.add(row.key);
                }
            });
        }
        meant.forEach(this::take);
    }

    private void remember(String key, long atMs) {
        dueAtMs.put(key, atMs);
        byTime.add(TaskStores.timerKey(atMs, key));
    }

    private void forget(String key) {
        Long atMs = dueAtMs.remove(key);
        if (atMs != null) {
            byTime.remove(TaskStores.timerKey(atMs, key));
        }
    }
}
