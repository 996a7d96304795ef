package dev.millrace.agent.projection;

import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import dev.millrace.api.Approval;
import dev.millrace.api.Task;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.jspecify.annotations.Nullable;

/** Answers questions from the projection's store while it is being written. */
final class ProjectionReader {

    /** No answer looks at more rows than this; a filter that finds little then gives a short page with a next one. */
    private static final int MAX_LOOKED_AT = 10_000;
    /** For the tools that a task waits for; a step has fewer events. */
    private static final int MAX_LOOKED_BACK = 200;
    /** No page is larger than this in what it is made of; a single larger row is a page of its own. */
    static final int MAX_PAGE_BYTES = 1024 * 1024;
    /** No answer reads more than this; then the page is short and has a next one. */
    private static final int MAX_READ_BYTES = 32 * 1024 * 1024;

    private final ReadOnlyKeyValueStore<Bytes, byte[]> rows;
    /** Of what these mean nothing is told any more, whether it is removed already or not. */
    private final List<OpenForget> forgotten;

    ProjectionReader(ReadOnlyKeyValueStore<Bytes, byte[]> rows) {
        this.rows = rows;
        this.forgotten = OpenForget.allIn(rows);
    }

    /** Whether there is a row of this task, forgotten or not. */
    static boolean knows(ReadOnlyKeyValueStore<Bytes, byte[]> rows, String namespace, String taskId) {
        return rows.get(ProjectionKeys.task(new TaskName(namespace, taskId))) != null;
    }

    Optional<Task.Details> details(String namespace, String taskId) {
        TaskName name = new TaskName(namespace, taskId);
        TaskRow row = row(name);
        Task view = row == null ? null : row.view();
        return view == null ? Optional.empty() : Optional.of(new Task.Details(view, lastMoves(name)));
    }

    private List<Task.Move> lastMoves(TaskName name) {
        Bytes prefix = ProjectionKeys.transitions(name);
        List<Task.Move> newestFirst = new ArrayList<>();
        try (KeyValueIterator<Bytes, byte[]> range = rows.reverseRange(prefix, Bytes.increment(prefix))) {
            while (range.hasNext() && newestFirst.size() < Task.Details.MAX_HISTORY) {
                move(name, range.next().key).ifPresent(newestFirst::add);
            }
        }
        return newestFirst.reversed();
    }

    /** Looks back from the task's last event, until all are found or it has looked at {@value #MAX_LOOKED_BACK}. */
    Set<String> toolsOf(String namespace, String taskId, Collection<String> callIds) {
        TaskName name = new TaskName(namespace, taskId);
        Set<String> wanted = new HashSet<>(callIds);
        Set<String> tools = new HashSet<>();
        if (row(name) == null) {
            return tools;
        }
        Bytes prefix = ProjectionKeys.events(name);
        int lookedAt = 0;
        try (KeyValueIterator<Bytes, byte[]> range = rows.reverseRange(prefix, Bytes.increment(prefix))) {
            while (range.hasNext() && !wanted.isEmpty() && lookedAt++ < MAX_LOOKED_BACK) {
                KeyValue<Bytes, byte[]> stored = range.next();
                Event event =
                        entry(ProjectionKeys.cursor(stored.key), stored.value).event();
                if (event.payload() instanceof Payload.ToolCallRequested requested
                        && wanted.remove(requested.callId())) {
                    tools.add(requested.toolName());
                }
            }
        }
        return tools;
    }

    Optional<Task.MovePage> history(String namespace, String taskId, @Nullable JournalCursor after, int limit) {
        TaskName name = new TaskName(namespace, taskId);
        TaskRow row = row(name);
        if (row == null || row.view() == null) {
            return Optional.empty();
        }
        Bytes prefix = ProjectionKeys.transitions(name);
        Bytes from = after == null ? prefix : ProjectionKeys.transition(name, after);
        List<Task.Move> moves = new ArrayList<>();
        JournalCursor last = null;
        long bytes = 0;
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(from, Bytes.increment(prefix))) {
            while (range.hasNext()) {
                Bytes key = range.next().key;
                JournalCursor cursor = ProjectionKeys.cursor(key);
                if (cursor.equals(after)) {
                    continue;
                }
                if (moves.size() == limit || bytes > MAX_READ_BYTES) {
                    return Optional.of(new Task.MovePage(moves, String.valueOf(last)));
                }
                byte[] json = rows.get(ProjectionKeys.event(name, cursor));
                if (json != null) {
                    bytes += json.length;
                    moves.add(moveOf(entry(cursor, json)));
                }
                last = cursor;
            }
        }
        return Optional.of(new Task.MovePage(moves, null));
    }

    private Optional<Task.Move> move(TaskName name, Bytes transition) {
        JournalCursor cursor = ProjectionKeys.cursor(transition);
        byte[] json = rows.get(ProjectionKeys.event(name, cursor));
        return json == null ? Optional.empty() : Optional.of(moveOf(entry(cursor, json)));
    }

    Approval.Page approvals(ApprovalQuery query) {
        Bytes list = ProjectionKeys.openApprovals(query.namespace());
        Bytes from = query.after() == null ? list : after(list, query.after());
        List<Approval> approvals = new ArrayList<>();
        int lookedAt = 0;
        long bytes = 0;
        long bytesRead = 0;
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(from, Bytes.increment(list))) {
            while (range.hasNext()) {
                Bytes place = range.next().key;
                Bytes request = ProjectionKeys.requestOf(query.namespace(), place);
                byte[] json = rows.get(request);
                Approval approval = json == null ? null : told(entry(ProjectionKeys.cursor(request), json));
                bytesRead += json == null ? 0 : json.length;
                if (json != null && approval != null && query.wants(approval)) {
                    approvals.add(approval);
                    bytes += json.length;
                }
                boolean full =
                        approvals.size() == query.limit() || bytes > MAX_PAGE_BYTES || bytesRead > MAX_READ_BYTES;
                if ((full || ++lookedAt == MAX_LOOKED_AT) && range.hasNext()) {
                    return new Approval.Page(approvals, next(list, place));
                }
            }
        }
        return new Approval.Page(approvals, null);
    }

    private static Task.Move moveOf(JournalEntry told) {
        Event event = told.event();
        Payload.TaskStateChanged moved = (Payload.TaskStateChanged) event.payload();
        return new Task.Move(
                moved.fromState(),
                moved.toState(),
                moved.triggerEventType(),
                moved.triggerEventId(),
                event.timestamp().toEpochMilli(),
                told.cursor().toString());
    }

    private static Approval approvalOf(JournalEntry requested) {
        Event event = requested.event();
        Payload.ApprovalRequested asked = (Payload.ApprovalRequested) event.payload();
        return new Approval(
                asked.callId(),
                TaskRow.nameOf(event).taskId(),
                event.sessionId(),
                event.namespace(),
                asked.toolName(),
                asked.params(),
                asked.taskType(),
                asked.reason(),
                event.timestamp().toEpochMilli(),
                asked.expiresAt(),
                event.id(),
                requested.cursor().toString());
    }

    private static Approval.Decided decided(Event event) {
        Payload.ApprovalDecided decided = (Payload.ApprovalDecided) event.payload();
        return new Approval.Decided(
                decided.decision(),
                decided.decidedBy(),
                decided.reason(),
                event.timestamp().toEpochMilli());
    }

    private @Nullable Approval told(JournalEntry requested) {
        boolean isForgotten = !forgotten.isEmpty() && row(TaskRow.nameOf(requested.event())) == null;
        return isForgotten ? null : approvalOf(requested);
    }

    Optional<Approval.Details> approval(String namespace, String callId) {
        Optional<JournalEntry> requested = pointedTo(ProjectionKeys.approvalRequest(namespace, callId));
        if (requested.isEmpty()) {
            return Optional.empty();
        }
        TaskRow row = row(TaskRow.nameOf(requested.get().event()));
        Optional<JournalEntry> decided = pointedTo(ProjectionKeys.approvalDecision(namespace, callId));
        boolean open = row != null
                && row.progress().waits().approvals().stream()
                        .anyMatch(approval -> approval.callId().equals(callId));
        String state = row == null ? null : row.progress().state();
        return Optional.of(new Approval.Details(
                approvalOf(requested.get()),
                open,
                state == null ? "" : state,
                decided.map(entry -> decided(entry.event())).orElse(null)));
    }

    Task.Page tasks(TaskQuery query) {
        Bytes list = list(query);
        Bytes from = query.before() == null ? list : after(list, query.before());
        List<Task> tasks = new ArrayList<>();
        int lookedAt = 0;
        long bytes = 0;
        long bytesRead = 0;
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(from, Bytes.increment(list))) {
            while (range.hasNext()) {
                Bytes place = range.next().key;
                byte[] row = rows.get(
                        ProjectionKeys.task(new TaskName(query.namespace(), ProjectionKeys.listedTask(list, place))));
                bytesRead += row == null ? 0 : row.length;
                TaskRow read = read(row);
                Task view = read == null ? null : read.view();
                // the row may be newer than the list
                if (row != null && view != null && query.wants(view)) {
                    tasks.add(view);
                    bytes += row.length;
                }
                if (view != null && query.traits().excludeOlderThan(view)) {
                    return new Task.Page(tasks, null); // a list has the newest first
                }
                boolean full = tasks.size() == query.limit() || bytes > MAX_PAGE_BYTES || bytesRead > MAX_READ_BYTES;
                if ((full || ++lookedAt == MAX_LOOKED_AT) && range.hasNext()) {
                    return new Task.Page(tasks, next(list, place));
                }
            }
        }
        return new Task.Page(tasks, null);
    }

    /** How many there are in each state, of the newest {@value #MAX_LOOKED_AT} that this query looks at. */
    Task.Counts counts(TaskQuery query) {
        Bytes list = list(query);
        Map<String, Integer> states = new TreeMap<>();
        int lookedAt = 0;
        long bytesRead = 0;
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(list, Bytes.increment(list))) {
            while (range.hasNext()) {
                if (lookedAt++ == MAX_LOOKED_AT || bytesRead > MAX_READ_BYTES) {
                    return new Task.Counts(states, false);
                }
                Bytes place = range.next().key;
                byte[] row = rows.get(
                        ProjectionKeys.task(new TaskName(query.namespace(), ProjectionKeys.listedTask(list, place))));
                bytesRead += row == null ? 0 : row.length;
                TaskRow read = read(row);
                Task view = read == null ? null : read.view();
                if (view != null && query.traits().excludeOlderThan(view)) {
                    break;
                }
                if (view != null && query.wants(view)) {
                    states.merge(view.state(), 1, Integer::sum);
                }
            }
        }
        return new Task.Counts(states, true);
    }

    /** The shortest list that has all that is wanted, as a rule. */
    private static Bytes list(TaskQuery query) {
        String namespace = query.namespace();
        if (query.sessionId() != null) {
            return ProjectionKeys.sessionList(namespace, query.sessionId());
        }
        if (query.waitingFor() != null) {
            return ProjectionKeys.waitingList(namespace, query.waitingFor());
        }
        return query.state() == null
                ? ProjectionKeys.list(namespace)
                : ProjectionKeys.stateList(namespace, query.state());
    }

    Optional<EventPage> events(
            String namespace, String taskId, @Nullable JournalCursor after, int limit, int maxBytes) {
        TaskName name = new TaskName(namespace, taskId);
        TaskRow row = row(name);
        if (row == null || (row.view() == null && !tellsOfForgetting(name))) {
            return Optional.empty();
        }
        // read first: whatever was written before this place is in the range below
        JournalCursor upTo = position(rows, row.last().partition()).orElse(row.last());
        Bytes prefix = ProjectionKeys.events(name);
        Bytes from = after == null ? prefix : ProjectionKeys.event(name, after);
        List<JournalEntry> events = new ArrayList<>();
        long bytes = 0;
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(from, Bytes.increment(prefix))) {
            while (range.hasNext()) {
                KeyValue<Bytes, byte[]> stored = range.next();
                JournalCursor cursor = ProjectionKeys.cursor(stored.key);
                if (cursor.equals(after)) {
                    continue;
                }
                bytes += stored.value.length;
                boolean full = events.size() == limit || bytes > Math.min(maxBytes, MAX_PAGE_BYTES);
                if (full && !events.isEmpty()) {
                    return Optional.of(new EventPage(events, events.getLast().cursor(), null));
                }
                events.add(entry(cursor, stored.value));
            }
        }
        JournalCursor last = events.isEmpty() ? upTo : events.getLast().cursor();
        boolean wroteMeanwhile = last.partition() == upTo.partition() && last.offset() > upTo.offset();
        return Optional.of(new EventPage(events, null, wroteMeanwhile ? last : upTo));
    }

    /** Whether these are the events of a request to forget, which is no task and is asked for like one. */
    private boolean tellsOfForgetting(TaskName name) {
        Bytes prefix = ProjectionKeys.events(name);
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(prefix, Bytes.increment(prefix))) {
            if (!range.hasNext()) {
                return false;
            }
            KeyValue<Bytes, byte[]> first = range.next();
            EventType type =
                    entry(ProjectionKeys.cursor(first.key), first.value).event().type();
            return type == KnownEventType.FORGET_REQUESTED
                    || type == KnownEventType.TASKS_FORGOTTEN
                    || type == KnownEventType.MEMORY_FORGOTTEN;
        }
    }

    Optional<ChainPage> chain(String namespace, String eventId, int limit) {
        List<JournalEntry> leafFirst = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        long bytes = 0;
        String next = eventId;
        while (next != null && leafFirst.size() < limit && bytes <= MAX_PAGE_BYTES && seen.add(next)) {
            byte[] key = keyOf(namespace, next);
            byte[] json = key == null ? null : rows.get(Bytes.wrap(key));
            if (key == null || json == null) {
                next = null;
                break;
            }
            JournalEntry entry = entry(ProjectionKeys.cursor(Bytes.wrap(key)), json);
            if (!isShown(entry)) {
                next = null;
                break;
            }
            leafFirst.add(entry);
            bytes += json.length;
            next = entry.event().parentEventId();
        }
        boolean goesOn = next != null && !seen.contains(next) && keyOf(namespace, next) != null;
        return leafFirst.isEmpty()
                ? Optional.empty()
                : Optional.of(new ChainPage(leafFirst.reversed(), goesOn ? next : null));
    }

    UsageReport usage(UsageQuery query, long now) {
        return new UsageReader(rows, query, now).report();
    }

    /** The place of the last record of this partition that is in the store. */
    static Optional<JournalCursor> position(ReadOnlyKeyValueStore<Bytes, byte[]> rows, int partition) {
        byte[] offset = rows.get(ProjectionKeys.position(partition));
        return offset == null
                ? Optional.empty()
                : Optional.of(
                        new JournalCursor(partition, ByteBuffer.wrap(offset).getLong()));
    }

    /** Where the event of this id is; {@code null} = nowhere. */
    private byte @Nullable [] keyOf(String namespace, String eventId) {
        Bytes ids = ProjectionKeys.eventIds(namespace, eventId);
        try (KeyValueIterator<Bytes, byte[]> pointers = rows.range(ids, Bytes.increment(ids))) {
            return pointers.hasNext() ? pointers.next().value : null;
        }
    }

    /** The event whose key is the value of this one. */
    private Optional<JournalEntry> pointedTo(Bytes pointer) {
        return entryAt(rows.get(pointer));
    }

    private Optional<JournalEntry> entryAt(byte @Nullable [] key) {
        byte[] json = key == null ? null : rows.get(Bytes.wrap(key));
        return key == null || json == null
                ? Optional.empty()
                : Optional.of(entry(ProjectionKeys.cursor(Bytes.wrap(key)), json))
                        .filter(this::isShown);
    }

    private boolean isShown(JournalEntry entry) {
        return forgotten.isEmpty() || row(TaskRow.nameOf(entry.event())) != null;
    }

    static JournalEntry entry(JournalCursor cursor, byte[] json) {
        try {
            return new JournalEntry(cursor, EventJson.fromJson(Json.readObject(json)));
        } catch (MalformedEventException e) {
            throw new IllegalStateException("the projection's own event cannot be read", e);
        }
    }

    private @Nullable TaskRow row(TaskName name) {
        return read(rows.get(ProjectionKeys.task(name)));
    }

    /** A row that may be shown. */
    private @Nullable TaskRow read(byte @Nullable [] stored) {
        TaskRow row = stored == null ? null : TaskRow.fromJson(stored);
        return row == null || forgotten.stream().anyMatch(forget -> forget.means(row)) ? null : row;
    }

    /** The part of a place that comes after its list's prefix, as a text without special characters. */
    private static String next(Bytes list, Bytes place) {
        byte[] key = place.get();
        return text(Arrays.copyOfRange(key, list.get().length, key.length));
    }

    /** The place after this part of a key, as a text without special characters. */
    static String text(byte[] tail) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(tail);
    }

    /** Where the next page of a list begins. */
    static Bytes after(Bytes list, String next) {
        byte[] tail = Base64.getUrlDecoder().decode(next.getBytes(StandardCharsets.ISO_8859_1));
        byte[] prefix = list.get();
        // one zero byte more is the smallest key that is greater than the last one of the page before
        byte[] key = Arrays.copyOf(prefix, prefix.length + tail.length + 1);
        System.arraycopy(tail, 0, key, prefix.length, tail.length);
        return Bytes.wrap(key);
    }
}
