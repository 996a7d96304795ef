package dev.millrace.agent.projection;

import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import dev.millrace.api.QueueItem;
import dev.millrace.api.Task;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.jspecify.annotations.Nullable;

/** Reads what was accepted as items of a queue, out of lists: no page looks at more than it shows, as a rule. */
final class QueueReader {

    /** With a session and a status together so many are looked at; then the page is short and has a next one. */
    private static final int MAX_LOOKED_AT = 2_000;

    private static final int TRACE_ID = 1;

    private final ReadOnlyKeyValueStore<Bytes, byte[]> rows;
    private final List<OpenForget> forgotten;

    QueueReader(ReadOnlyKeyValueStore<Bytes, byte[]> rows) {
        this.rows = rows;
        this.forgotten = OpenForget.allIn(rows);
    }

    /** In the order that is asked for. */
    QueueItem.Page items(QueueQuery query) {
        List<QueueItem> items = new ArrayList<>();
        long bytes = 0;
        int lookedAt = 0;
        List<Source> sources = lists(query).stream()
                .map(list -> new Source(rows, list, query.before()))
                .toList();
        try {
            for (Source next = first(sources); next != null; next = first(sources)) {
                byte[] tail = next.tail();
                TaskRow row = row(new TaskName(query.namespace(), next.take()));
                String status = row == null ? null : QueueStatus.of(row);
                boolean wanted = status != null
                        && (query.status() == null || query.status().equals(status));
                byte[] json = row != null && wanted ? rows.get(ProjectionKeys.event(row.name(), row.first())) : null;
                if (row != null && status != null && json != null) {
                    items.add(item(
                            row,
                            status,
                            ProjectionReader.entry(row.first(), json).event()));
                    bytes += json.length;
                }
                boolean full = items.size() == query.limit() || bytes > ProjectionReader.MAX_PAGE_BYTES;
                if ((full || ++lookedAt == MAX_LOOKED_AT) && first(sources) != null) {
                    return new QueueItem.Page(items, ProjectionReader.text(tail));
                }
            }
            return new QueueItem.Page(items, null);
        } finally {
            sources.forEach(Source::close);
        }
    }

    /** One of them, also one that came to a task that was there. */
    Optional<QueueItem> item(String namespace, String eventId) {
        return found(namespace, eventId).map(Found::item);
    }

    /** The event of one of them. */
    Optional<Event> event(String namespace, String eventId) {
        return found(namespace, eventId).map(Found::event);
    }

    private record Found(QueueItem item, Event event) {}

    private Optional<Found> found(String namespace, String eventId) {
        Bytes ids = ProjectionKeys.eventIds(namespace, eventId);
        try (KeyValueIterator<Bytes, byte[]> pointers = rows.range(ids, Bytes.increment(ids))) {
            if (!pointers.hasNext()) {
                return Optional.empty();
            }
            Bytes key = Bytes.wrap(pointers.next().value);
            byte[] json = rows.get(key);
            if (json == null) {
                return Optional.empty();
            }
            JournalCursor cursor = ProjectionKeys.cursor(key);
            JournalEntry entry = ProjectionReader.entry(cursor, json);
            TaskRow row = row(TaskRow.nameOf(entry.event()));
            if (row == null) {
                return Optional.empty();
            }
            boolean first = row.first().equals(cursor);
            String status = first ? QueueStatus.of(row) : QueueStatus.COMPLETED;
            return status == null
                    ? Optional.empty()
                    : Optional.of(new Found(
                            first ? item(row, status, entry.event()) : taken(row, entry.event()), entry.event()));
        }
    }

    private static QueueItem item(TaskRow row, String status, Event event) {
        TaskRow.Said said = row.progress().said();
        boolean isTask = row.progress().state() != null;
        String outcome = row.alone() == null ? null : row.alone().outcome();
        return item(
                event,
                status,
                row.origin().createdAt(),
                row.updatedAt(),
                isTask ? row.name().taskId() : null,
                row.progress().waits().on(),
                isTask ? said.errorCode() : outcome,
                isTask ? said.error() : null);
    }

    /** One that a task has taken: an answer, a decision, a result. */
    private static QueueItem taken(TaskRow row, Event event) {
        long date = event.timestamp().toEpochMilli();
        return item(event, QueueStatus.COMPLETED, date, date, row.name().taskId(), null, null, null);
    }

    private static QueueItem item(
            Event event,
            String status,
            long createdAt,
            long updatedAt,
            @Nullable String taskId,
            Task.@Nullable WaitingFor waitingFor,
            @Nullable String reason,
            @Nullable String error) {
        return new QueueItem(
                event.id(),
                event.sessionId(),
                event.type().wireName(),
                event.fields(),
                status,
                QueueItem.HIGHEST - event.effectivePriority(),
                event.expiry() == null
                        ? null
                        : Math.max(
                                0,
                                event.expiry().toEpochMilli()
                                        - event.timestamp().toEpochMilli()),
                traceId(event),
                event.parentEventId(),
                event.namespace(),
                createdAt,
                updatedAt,
                taskId,
                waitingFor,
                reason,
                error,
                null);
    }

    private static String traceId(Event event) {
        String[] parts = event.traceparent() == null
                ? new String[0]
                : event.traceparent().split("-", -1);
        return parts.length > TRACE_ID ? parts[TRACE_ID] : event.correlationId();
    }

    private @Nullable TaskRow row(TaskName name) {
        byte[] stored = rows.get(ProjectionKeys.task(name));
        TaskRow row = stored == null ? null : TaskRow.fromJson(stored);
        return row == null || forgotten.stream().anyMatch(forget -> forget.means(row)) ? null : row;
    }

    /** The shortest lists that have all that is wanted. */
    private static List<Bytes> lists(QueueQuery query) {
        String namespace = query.namespace();
        if (query.sessionId() != null && query.order() == QueueQuery.Order.WORK) {
            return List.of(ProjectionKeys.line(namespace, query.sessionId()));
        }
        if (query.sessionId() != null) {
            return List.of(
                    ProjectionKeys.sessionList(namespace, query.sessionId()),
                    ProjectionKeys.aloneInSession(namespace, query.sessionId()));
        }
        String status = query.status();
        if (status == null) {
            return List.of(ProjectionKeys.list(namespace), ProjectionKeys.alone(namespace));
        }
        List<String> states =
                switch (status) {
                    case QueueStatus.PENDING -> List.of("idle");
                    case QueueStatus.PROCESSING -> List.of("reasoning", "acting", "suspended");
                    case QueueStatus.COMPLETED -> List.of("completed");
                    default -> List.of();
                };
        return Stream.concat(
                        Stream.of(ProjectionKeys.queueList(namespace, status)),
                        states.stream().map(state -> ProjectionKeys.stateList(namespace, state)))
                .toList();
    }

    /** The list whose next item comes first. */
    private static @Nullable Source first(List<Source> sources) {
        Source first = null;
        for (Source source : sources) {
            if (source.hasNext() && (first == null || Arrays.compareUnsigned(source.tail(), first.tail()) < 0)) {
                first = source;
            }
        }
        return first;
    }

    /** One list, from a place on. */
    private static final class Source implements AutoCloseable {
        private final Bytes list;
        private final KeyValueIterator<Bytes, byte[]> range;

        Source(ReadOnlyKeyValueStore<Bytes, byte[]> rows, Bytes list, @Nullable String before) {
            this.list = list;
            this.range =
                    rows.range(before == null ? list : ProjectionReader.after(list, before), Bytes.increment(list));
        }

        boolean hasNext() {
            return range.hasNext();
        }

        /** What comes after the list's own key: a number, the lower first, and the id. */
        byte[] tail() {
            byte[] key = range.peekNextKey().get();
            return Arrays.copyOfRange(key, list.get().length, key.length);
        }

        /** The id of the next one, which is passed. */
        String take() {
            return ProjectionKeys.listedTask(list, range.next().key);
        }

        @Override
        public void close() {
            range.close();
        }
    }
}
