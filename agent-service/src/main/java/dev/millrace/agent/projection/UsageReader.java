package dev.millrace.agent.projection;

import dev.millrace.agent.projection.UsageQuery.Dimension;
import dev.millrace.agent.projection.UsageQuery.Filter;
import dev.millrace.api.UsageSums;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/** Adds up the rows that {@link UsageLedger} wrote. */
final class UsageReader {

    /** No answer looks at more rows than this. */
    static final int MAX_LOOKED_AT = 200_000;
    /** No answer has more groups than this. */
    static final int MAX_GROUPS = 10_000;

    /** No event is of a later one. */
    private static final long LAST_HOUR = Instant.parse("9999-12-31T23:00:00Z").toEpochMilli() + UsageKey.HOUR_MS;

    private static final Comparator<List<String>> BY_NAMES = (a, b) -> {
        for (int i = 0; i < a.size(); i++) {
            int order = a.get(i).compareTo(b.get(i));
            if (order != 0) {
                return order;
            }
        }
        return 0;
    };

    private final ReadOnlyKeyValueStore<Bytes, byte[]> rows;
    private final UsageQuery query;
    private final long now;
    private final Map<List<String>, UsageSums> groups = new TreeMap<>(BY_NAMES);
    private int lookedAt;

    /** For one answer. */
    UsageReader(ReadOnlyKeyValueStore<Bytes, byte[]> rows, UsageQuery query, long now) {
        this.rows = rows;
        this.query = query;
        this.now = now;
    }

    /**
     * The answer.
     *
     * @throws IllegalArgumentException if it would be too long, or take too long
     */
    UsageReport report() {
        Long until = query.to();
        long to = UsageKey.hourFrom(until == null ? now + 1 : until);
        long last = Math.min(to, afterLastHour());
        Long since = query.from();
        long first = firstHour(to);
        long from = since == null ? first : Math.max(first, UsageKey.hourOf(since));
        Filter filter = query.filter();
        if (query.isCoarse()) {
            if (filter.namespace() == null) {
                add(ProjectionKeys.namespaceUsage(from), ProjectionKeys.namespaceUsage(last), this::addNamespace);
            } else {
                for (long hour : everyHour(from, last)) {
                    Bytes prefix = ProjectionKeys.namespaceUsage(hour, filter.namespace());
                    add(prefix, Bytes.increment(prefix), this::addNamespace);
                }
            }
        } else if (filter.namespace() == null) {
            add(ProjectionKeys.taskUsage(from), ProjectionKeys.taskUsage(last), this::addTask);
        } else {
            for (long hour : hours(filter, from, last)) {
                Bytes prefix = filter.sessionId() == null
                        ? ProjectionKeys.taskUsage(hour, filter.namespace())
                        : ProjectionKeys.taskUsage(hour, filter.namespace(), filter.sessionId());
                add(prefix, Bytes.increment(prefix), this::addTask);
            }
        }
        UsageSums total = groups.values().stream().reduce(UsageSums.NONE, UsageSums::plus);
        return new UsageReport(
                since == null ? from : UsageKey.hourOf(since),
                to,
                query.groupBy(),
                groups.entrySet().stream()
                        .map(group -> new UsageReport.Group(group.getKey(), group.getValue()))
                        .toList(),
                total);
    }

    /** The first hour in which anything was used; the hour that the question ends with if nothing was. */
    private long firstHour(long to) {
        try (KeyValueIterator<Bytes, byte[]> range =
                rows.range(ProjectionKeys.namespaceUsage(0), ProjectionKeys.namespaceUsage(to))) {
            return range.hasNext() ? ProjectionKeys.hour(range.next().key) : to;
        }
    }

    /** The hour after the last one in which anything was used; 0 if nothing was. */
    private long afterLastHour() {
        try (KeyValueIterator<Bytes, byte[]> range =
                rows.reverseRange(ProjectionKeys.namespaceUsage(0), ProjectionKeys.namespaceUsage(LAST_HOUR))) {
            return range.hasNext() ? ProjectionKeys.hour(range.next().key) + UsageKey.HOUR_MS : 0;
        }
    }

    private static List<Long> everyHour(long from, long to) {
        if ((to - from) / UsageKey.HOUR_MS > MAX_LOOKED_AT) {
            throw new IllegalArgumentException("from, to: expected a time of no more than " + MAX_LOOKED_AT
                    + " hours in which something was used, found a longer one");
        }
        List<Long> hours = new ArrayList<>();
        for (long hour = from; hour < to; hour += UsageKey.HOUR_MS) {
            hours.add(hour);
        }
        return hours;
    }

    /** The hours in which there is something to find, as far as that can be told in advance. */
    private List<Long> hours(Filter filter, long from, long to) {
        if (filter.namespace() == null || filter.sessionId() == null) {
            return everyHour(from, to);
        }
        List<Long> hours = new ArrayList<>();
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(
                ProjectionKeys.usedIn(filter.namespace(), filter.sessionId(), from),
                ProjectionKeys.usedIn(filter.namespace(), filter.sessionId(), to))) {
            while (range.hasNext()) {
                long hour = ProjectionKeys.usedInHour(range.next().key);
                if (hour < to) {
                    hours.add(hour);
                }
            }
        }
        return hours;
    }

    /** What is at these keys, the last one not among them. */
    private void add(Bytes first, Bytes last, BiConsumer<Bytes, byte[]> row) {
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(first, last)) {
            while (range.hasNext()) {
                KeyValue<Bytes, byte[]> one = range.next();
                if (one.key.compareTo(last) >= 0) {
                    return;
                }
                if (++lookedAt > MAX_LOOKED_AT) {
                    throw new IllegalArgumentException("from, to: expected a time in which no more than "
                            + MAX_LOOKED_AT + " rows are to be added up, found a longer one");
                }
                row.accept(one.key, one.value);
            }
        }
    }

    private void addNamespace(Bytes key, byte[] row) {
        add(ProjectionKeys.ofNamespaceUsage(key), row);
    }

    private void addTask(Bytes key, byte[] row) {
        add(ProjectionKeys.ofTaskUsage(key), row);
    }

    private void add(UsageKey key, byte[] row) {
        if (!query.filter().wants(key)) {
            return;
        }
        List<String> names =
                query.groupBy().stream().map(dimension -> name(dimension, key)).toList();
        groups.merge(names, UsageRow.fromJson(row).sums(), UsageSums::plus);
        if (groups.size() > MAX_GROUPS) {
            throw new IllegalArgumentException("groupBy: expected no more than " + MAX_GROUPS
                    + " groups, found more; name a shorter time or filter");
        }
    }

    private static String name(Dimension dimension, UsageKey key) {
        return switch (dimension) {
            case NAMESPACE -> key.namespace();
            case SESSION -> key.sessionId();
            case TASK -> key.taskId();
            case AGENT -> key.agent();
            case MODEL -> key.model();
            case HOUR -> Instant.ofEpochMilli(key.hour()).toString();
            case DAY ->
                Instant.ofEpochMilli(key.hour()).truncatedTo(ChronoUnit.DAYS).toString();
        };
    }
}
