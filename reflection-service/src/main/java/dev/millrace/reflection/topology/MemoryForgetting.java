package dev.millrace.reflection.topology;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.engine.Sender;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Forgets what a namespace remembers, and reflections on tasks that are forgotten, once the task machine has said that
 * it has forgotten them. From that record on the documents are gone for everybody; they are removed bit by bit, and how
 * far that is stands in the store. Calls that were made before do not bring anything back. For one stream thread.
 */
final class MemoryForgetting implements NamespaceDocuments.Gone {

    /** Longer than any request stays on its topic. */
    private static final Duration REMEMBERED = Duration.ofDays(7);

    private final Sections sections;
    private final Reflections reflections;
    private final Function<String, NamespaceDocuments> memory;
    private final Outlet outlet;
    /** When each was forgotten: what the store has. */
    private final Map<String, Long> asked = new HashMap<>();
    /** What the store has, in the order in which it was asked for. */
    private final TreeMap<String, Row> open = new TreeMap<>();

    /** Where it says what it has done. */
    record Outlet(Sender sender, Topics topics) {}

    /**
     * What it keeps.
     *
     * @param asked when namespaces were forgotten, in Unix milliseconds
     * @param open what is not done
     */
    record Sections(KeyValueStore<String, Long> asked, KeyValueStore<String, Row> open) {}

    /**
     * Documents that are being removed.
     *
     * @param forgotten TASKS_FORGOTTEN
     * @param reflections how many were given up
     * @param modelCalls what they had used
     * @param documents how many are removed so far
     * @param nextKey the row to go on with; {@code null} = the first of the namespace
     * @param nextVersion its version to go on with
     * @param written keys of documents that were written since, which stay
     */
    record Row(
            @JsonProperty("forgotten") Event forgotten,
            @JsonProperty("reflections") long reflections,
            @JsonProperty("modelCalls") List<Payload.ModelCall> modelCalls,
            @JsonProperty("documents") long documents,
            @JsonProperty("nextKey") @Nullable String nextKey,
            @JsonProperty("nextVersion") long nextVersion,
            @JsonProperty("written") Set<String> written) {

        /** Whether the document of this key is gone, although its row may be there. */
        boolean means(String documentKey) {
            String from = nextKey == null ? MemoryStores.firstKey(forgotten.namespace()) : nextKey;
            return documentKey.compareTo(from) >= 0
                    && documentKey.compareTo(MemoryStores.endKey(forgotten.namespace())) < 0
                    && !written.contains(documentKey);
        }

        Row having(NamespaceDocuments.Removed removed) {
            return new Row(
                    forgotten,
                    reflections,
                    modelCalls,
                    documents + removed.documents(),
                    removed.nextKey(),
                    removed.nextVersion(),
                    written);
        }

        Row writtenTo(String documentKey, boolean hadContent) {
            Set<String> more = new HashSet<>(written);
            more.add(documentKey);
            return new Row(
                    forgotten, reflections, modelCalls, documents + (hadContent ? 1 : 0), nextKey, nextVersion, more);
        }
    }

    /**
     * That of one partition.
     *
     * @param memory the documents of a namespace
     */
    MemoryForgetting(
            Sections sections,
            Reflections reflections,
            Function<String, NamespaceDocuments> memory,
            Outlet outlet,
            Instant now) {
        this.sections = sections;
        this.reflections = reflections;
        this.memory = memory;
        this.outlet = outlet;
        try (KeyValueIterator<String, Long> all = sections.asked().all()) {
            all.forEachRemaining(row -> asked.put(row.key, row.value));
        }
        try (KeyValueIterator<String, Row> all = sections.open().all()) {
            all.forEachRemaining(row -> open.put(row.key, row.value));
        }
        // a date in the future is one that a sender made up, before ADR 0024: it would keep everything out for as long
        long nowMs = now.toEpochMilli();
        for (Map.Entry<String, Long> one : asked.entrySet()) {
            if (one.getValue() > nowMs) {
                one.setValue(nowMs);
                sections.asked().put(one.getKey(), nowMs);
            }
        }
    }

    /** Takes TASKS_FORGOTTEN; {@link #run} does what may be much. */
    void take(Event forgotten, Instant now) {
        ForgetScope scope = ForgetScope.of(forgotten).orElse(null);
        if (scope == null) {
            return;
        }
        dropOld(now);
        Reflections.GivenUp givenUp = reflections.forget(scope);
        Row row = new Row(forgotten, givenUp.reflections(), givenUp.modelCalls(), 0, null, 1, Set.of());
        if (!scope.containsMemory()) {
            complete(row, now);
            return;
        }
        long at = Math.min(askedAt(forgotten), now.toEpochMilli());
        sections.asked().put(scope.namespace(), asked.merge(scope.namespace(), at, Math::max));
        long number = open.isEmpty() ? 0 : Long.parseLong(open.lastKey(), 16) + 1;
        keep(String.format("%016x", number), row);
    }

    /**
     * Goes on with what is open, for a bounded number of records.
     *
     * @return whether there was anything to do
     */
    boolean run(Instant now) {
        Map.Entry<String, Row> oldest = open.firstEntry();
        if (oldest == null) {
            return false;
        }
        Row row = oldest.getValue();
        Row after = row.having(memory.apply(row.forgotten().namespace())
                .forget(
                        new NamespaceDocuments.Removal(
                                row.forgotten().id(), row.nextKey(), row.nextVersion(), row.written()),
                        now));
        if (after.nextKey() == null) {
            open.remove(oldest.getKey());
            sections.open().delete(oldest.getKey());
            complete(after, now);
        } else {
            keep(oldest.getKey(), after);
        }
        return true;
    }

    /**
     * Whether this was asked for before its namespace was to be forgotten.
     *
     * @param receivedMs when it came onto its topic, in Unix milliseconds: what it says of its time is of no account
     */
    boolean covers(Event request, long receivedMs) {
        Long at = asked.get(request.namespace());
        return at != null && receivedMs <= at;
    }

    @Override
    public boolean isGone(String documentKey) {
        return !open.isEmpty() && open.values().stream().anyMatch(row -> row.means(documentKey));
    }

    @Override
    public void written(String documentKey, boolean hadContent) {
        List<KeyValue<String, Row>> concerned = new ArrayList<>();
        open.forEach((key, row) -> {
            if (row.means(documentKey)) {
                concerned.add(KeyValue.pair(key, row));
            }
        });
        for (int i = 0; i < concerned.size(); i++) {
            KeyValue<String, Row> row = concerned.get(i);
            keep(row.key, row.value.writtenTo(documentKey, hadContent && i == 0));
        }
    }

    private void keep(String key, Row row) {
        open.put(key, row);
        sections.open().put(key, row);
    }

    private void complete(Row row, Instant now) {
        ForgetScope scope = ForgetScope.of(row.forgotten()).orElseThrow();
        Event done = row.forgotten()
                .derive(KnownEventType.MEMORY_FORGOTTEN, 0, now)
                .source("memory")
                .payload(new Payload.MemoryForgotten(
                        scope.kind().wireName(),
                        scope.taskId(),
                        scope.sessionId(),
                        ForgetScope.forgetId(row.forgotten()),
                        row.documents(),
                        row.reflections(),
                        row.modelCalls()))
                .build();
        outlet.sender().send(outlet.topics().lane(done.lane()), done.sessionKey(), done, now, Map.of());
    }

    private void dropOld(Instant now) {
        long oldest = now.minus(REMEMBERED).toEpochMilli();
        asked.entrySet().removeIf(one -> {
            boolean old = one.getValue() < oldest;
            if (old) {
                sections.asked().delete(one.getKey());
            }
            return old;
        });
    }

    private static long askedAt(Event forgotten) {
        return forgotten.payload() instanceof Payload.TasksForgotten told ? told.requestedAt() : 0;
    }
}
