package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskState;
import dev.millrace.engine.ModelUsage;
import dev.millrace.engine.Rehoming;
import dev.millrace.engine.RejectedRecordException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.ForgetScope.Kind;
import dev.millrace.schemas.Forgotten;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Forgets tasks on one partition: goes over the rows, a bounded number at a time, and has those removed that a request
 * means. How far it is stands in the store, so that a crash goes on. What comes later about what was forgotten is kept
 * out for as long as it may still stand on a lane. For one stream thread.
 */
final class TaskForgetting {

    /** As long as lanes keep what was asked for before. */
    static final Duration REMEMBERED = Duration.ofDays(7);

    /** So many rows are looked at in one turn. */
    static final int ROWS_AT_ONCE = 500;
    /** So many tasks are removed in one turn. */
    static final int TASKS_AT_ONCE = 100;

    // stands before the place among the requests to cancel, which follow on the rows of tasks
    private static final char CANCELS = '\u0001';
    // stands before the place among sessions, which follow on the requests to cancel
    private static final char SESSIONS = '\u0002';
    // stands before the place among what sessions tell of a task whose row is gone, which follows on sessions
    private static final char HISTORIES = '\u0003';
    // the clocks of brokers and instances differ a little
    private static final long SKEW_MS = 60_000;
    private static final long NEVER = Long.MIN_VALUE;

    private final KeyValueStore<String, Row> store;
    private final KeyValueStore<String, StoredTask> tasks;
    private final Home home;
    private final EarlyCancels cancels;
    private final HeldEvents held;
    private final Processing processing;
    private final Moves moves;
    private final Outbox outbox;
    private final RowSweep<Row> sweep;
    /** What has been asked for and is not done, the oldest first. */
    private final Map<String, Row> open = new LinkedHashMap<>();
    /** When each was last asked for, in Unix milliseconds. */
    private final Map<ForgetScope, Long> asked = new HashMap<>();

    /**
     * One request.
     *
     * @param request FORGET_REQUESTED
     * @param takenAtMs when it was taken, by the clock of the instance that did, in Unix milliseconds
     * @param receivedAtMs when it came onto its lane; {@code null} in a row of before ADR 0024
     * @param nextKey the row to go on with; {@code null} = the first
     * @param done whether all of it has been done
     * @param tasks rows that have been removed
     * @param cancelled those of them that had not ended
     * @param children tasks that they had started
     */
    record Row(
            Event request,
            long takenAtMs,
            @Nullable Long receivedAtMs,
            @Nullable String nextKey,
            boolean done,
            long tasks,
            long cancelled,
            long children) {

        /** What it means; every request in the store means something. */
        ForgetScope scope() {
            return ForgetScope.of(request).orElseThrow();
        }

        /** What came before this moment is meant, in Unix milliseconds; never later than when it was taken. */
        long askedAtMs() {
            return receivedAtMs != null
                    ? receivedAtMs
                    : Math.min(request.timestamp().toEpochMilli(), takenAtMs);
        }
    }

    /** The requests to forget, and what they may mean. */
    record Known(
            KeyValueStore<String, Row> requests,
            KeyValueStore<String, StoredTask> tasks,
            EarlyCancels cancels,
            HeldEvents held,
            Processing processing) {}

    /**
     * Which partition this is, of how many.
     *
     * @param givenUp keys of requests that {@link #giveUp} has been called for; it is added to
     */
    record Home(int partition, int partitions, Set<String> givenUp) {}

    /** As the store has it. */
    TaskForgetting(Known known, Home home, Moves moves, Outbox outbox) {
        this.store = known.requests();
        this.tasks = known.tasks();
        this.cancels = known.cancels();
        this.held = known.held();
        this.processing = known.processing();
        this.home = home;
        this.moves = moves;
        this.outbox = outbox;
        this.sweep = new RowSweep<>(store, (row, nowMs) -> {
            if (row.value.done() && row.value.takenAtMs() < nowMs - REMEMBERED.toMillis()) {
                store.delete(row.key);
                asked.remove(row.value.scope(), row.value.askedAtMs());
            }
        });
        try (KeyValueIterator<String, Row> rows = store.all()) {
            rows.forEachRemaining(row -> remember(row.key, row.value));
        }
    }

    /**
     * Takes a request; {@link #run} does the work.
     *
     * @param first whether this is the first partition that takes it
     * @param receivedMs when it came onto its lane: the moment up to which things are forgotten
     * @throws RejectedRecordException if it does not say what it means
     */
    void begin(Event request, boolean first, long receivedMs, Instant now) throws RejectedRecordException {
        ForgetScope scope = ForgetScope.of(request).orElse(null);
        boolean named = scope != null
                && switch (scope.kind()) {
                    case TASK -> scope.id() != null && scope.id().equals(request.taskId());
                    case SESSION -> scope.id() != null && scope.id().equals(request.sessionId());
                    case MEMORY, NAMESPACE -> true;
                };
        if (scope == null || !named) {
            throw new RejectedRecordException(
                    "bad_payload",
                    "FORGET_REQUESTED: expected a taskId that is ce_subject, or a sessionId that is the header"
                            + " sessionid, or another scope, found "
                            + (request.payload() instanceof Payload.ForgetRequested asked ? asked.scope() : null));
        }
        if (first) {
            outbox.journal(filed(request.toBuilder(), request).build(), now);
        }
        String key = Event.qualified(request.namespace(), request.id());
        Row row = new Row(request, now.toEpochMilli(), receivedMs, null, false, 0, 0, 0);
        store.put(key, row);
        remember(key, row);
        held.forget(scope);
        processing.forget(scope);
    }

    /** Goes on with what is open, for a bounded number of rows. */
    void run(Instant now) {
        if (!open.isEmpty()) {
            Map.Entry<String, Row> oldest = open.entrySet().iterator().next();
            Row row = step(oldest.getValue(), now);
            if (row.done()) {
                complete(row, now);
                open.remove(oldest.getKey());
            } else {
                open.put(oldest.getKey(), row);
            }
            store.put(oldest.getKey(), row);
        }
    }

    /**
     * Whether an event is about what was forgotten: because it came before the request, or because it is the answer to
     * a task that is no more. What it says of its time is of no account.
     *
     * @param receivedMs when it came onto its lane, in Unix milliseconds
     * @param isHere whether the task of this id is here
     */
    boolean covers(Event event, long receivedMs, Predicate<String> isHere) {
        if (asked.isEmpty()
                || event.type() == KnownEventType.FORGET_REQUESTED
                || event.type() == KnownEventType.MEMORY_FORGOTTEN) {
            return false;
        }
        long at = lastAsked(event);
        return at != NEVER
                && (receivedMs <= at || (event.taskId() != null && isNews(event) && !isHere.test(event.taskId())));
    }

    /** Whether it tells a task something that nobody else would care for: a reply, or what became of a child. */
    private static boolean isNews(Event event) {
        return !SeenEvents.isExternal(event) || event.type().isOpen();
    }

    /**
     * What goes into the journal in place of an event that {@link #covers} keeps out: what model calls have used, and
     * nothing that would tell whose they were but the namespace.
     */
    static Optional<Event> paidFor(Event event) {
        return told(event)
                .map(paid -> paid.toBuilder().taskId(null).sessionId(null).build());
    }

    private static Optional<Event> told(Event event) {
        if (event.type() == KnownEventType.MODEL_CALL_ABANDONED) {
            return Optional.of(event);
        }
        if (LateReplies.isReply(event)) {
            return ModelUsage.abandoned(event, "forgotten");
        }
        List<Payload.ModelCall> calls =
                switch (event.payload()) {
                    case Payload.ReflectionComplete reflection -> reflection.modelCalls();
                    case Payload.ReflectionFailed reflection -> reflection.modelCalls();
                    default -> List.of();
                };
        return calls.isEmpty()
                ? Optional.empty()
                : Optional.of(Event.root(event.id(), KnownEventType.REFLECTION_FAILED, event.timestamp())
                        .namespace(event.namespace())
                        .correlationId(event.correlationId())
                        .parentEventId(event.parentEventId())
                        .source(event.source())
                        .payload(new Payload.ReflectionFailed(
                                "forgotten", "Its task has been forgotten", null, null, null, null, calls))
                        .build());
    }

    /**
     * Does no more about the request whose step broke, for as long as this instance lives; it is never said to be done.
     */
    void giveUp() {
        if (!open.isEmpty()) {
            Map.Entry<String, Row> oldest = open.entrySet().iterator().next();
            open.remove(oldest.getKey());
            home.givenUp().add(oldest.getKey());
        }
    }

    /** No longer keeps out what was asked for so long ago that nothing of it can still come. */
    void sweep(long nowMs) {
        sweep.run(nowMs);
    }

    private void remember(String key, Row row) {
        asked.merge(row.scope(), row.askedAtMs(), Math::max);
        if (!row.done() && !home.givenUp().contains(key)) {
            open.put(key, row);
        }
    }

    private long lastAsked(Event event) {
        String namespace = event.namespace();
        String taskId = EventMapping.taskIdOf(event);
        long at = asked.getOrDefault(new ForgetScope(Kind.NAMESPACE, namespace, null), NEVER);
        if (taskId != null) {
            at = Math.max(at, asked.getOrDefault(new ForgetScope(Kind.TASK, namespace, taskId), NEVER));
        }
        if (event.sessionId() != null) {
            at = Math.max(at, asked.getOrDefault(new ForgetScope(Kind.SESSION, namespace, event.sessionId()), NEVER));
        }
        return at;
    }

    private Row step(Row row, Instant now) {
        ForgetScope scope = row.scope();
        if (row.nextKey() != null && row.nextKey().charAt(0) == CANCELS) {
            return goOn(row, cancels(row, scope, row.nextKey().substring(1)), 0, 0, 0);
        }
        if (row.nextKey() != null && row.nextKey().charAt(0) == SESSIONS) {
            return goOn(row, sessions(row, scope, row.nextKey().substring(1)), 0, 0, 0);
        }
        if (row.nextKey() != null && row.nextKey().charAt(0) == HISTORIES) {
            return histories(row, scope, row.nextKey().substring(1));
        }
        List<StoredTask> found = new ArrayList<>();
        String next = scope.kind() == Kind.MEMORY ? null : find(row, scope, found);
        long cancelled = 0;
        long children = 0;
        for (StoredTask task : found) {
            boolean running = moves.forget(task, row.request(), scope.kind() != Kind.TASK, now);
            cancelled += running ? 1 : 0;
            if (running || scope.kind() == Kind.TASK || task.updatedAtMs() >= row.askedAtMs() - SKEW_MS) {
                // the request itself tells of what is older
                outbox.toForgotten(
                        new Forgotten(new ForgetScope(Kind.TASK, task.namespace(), task.taskId()), row.askedAtMs()),
                        now);
            }
            if (scope.kind() != Kind.NAMESPACE) {
                Set<String> started = childrenOf(task);
                started.forEach(child -> outbox.lane(requestFor(child, row.request(), now), now));
                children += started.size();
            }
        }
        if (next == null && scope.kind() != Kind.MEMORY) {
            next = cancels(row, scope, "");
        }
        return goOn(row, next, found.size(), cancelled, children);
    }

    private static Row goOn(Row row, @Nullable String next, long tasks, long cancelled, long children) {
        return new Row(
                row.request(),
                row.takenAtMs(),
                row.receivedAtMs(),
                next,
                next == null,
                row.tasks() + tasks,
                row.cancelled() + cancelled,
                row.children() + children);
    }

    /** Removes requests to cancel what is meant; returns where to go on, {@code null} = there are no more. */
    private @Nullable String cancels(Row row, ForgetScope scope, String from) {
        String next = cancels.forget(
                from,
                ROWS_AT_ONCE,
                cancel -> scope.contains(cancel.namespace(), cancel.taskId(), cancel.sessionId()),
                row.takenAtMs());
        return next == null ? sessions(row, scope, "") : CANCELS + next;
    }

    /** Removes sessions that are meant; returns where to go on, {@code null} = there are no more. */
    private @Nullable String sessions(Row row, ForgetScope scope, String from) {
        if (scope.kind() == Kind.TASK) {
            return moves.outlivesItsRow(taskKey(scope)) ? String.valueOf(HISTORIES) : null;
        }
        String next = moves.forgetSessions(scope, from, row.askedAtMs());
        return next == null ? null : SESSIONS + next;
    }

    /** Goes on with a task whose row is gone, and that a session may still tell of. */
    private Row histories(Row row, ForgetScope scope, String from) {
        String taskId = String.valueOf(scope.id());
        String next =
                moves.forgetOutliving(scope.namespace(), taskId, row.request().sessionId(), from);
        return next == null ? goOn(row, null, 1, 0, 0) : goOn(row, HISTORIES + next, 0, 0, 0);
    }

    private static String taskKey(ForgetScope scope) {
        return Event.qualified(scope.namespace(), String.valueOf(scope.id()));
    }

    /** All that it has ever started; of a row that was stored before these were kept, those that have not ended. */
    private static Set<String> childrenOf(StoredTask task) {
        Set<String> children = new LinkedHashSet<>(task.lineage().children());
        if (task.state() instanceof TaskState.Existing existing) {
            existing.context().children().out().forEach(child -> children.add(child.taskId()));
        }
        return children;
    }

    /** Finds tasks of this scope; returns where to go on, {@code null} = there are no more. */
    private @Nullable String find(Row row, ForgetScope scope, List<StoredTask> found) {
        boolean one = scope.kind() == Kind.TASK;
        String namespace = scope.namespace();
        String only = one ? taskKey(scope) : null;
        // keys of the default namespace have no common beginning
        boolean apart = !namespace.equals(Event.DEFAULT_NAMESPACE);
        String first = row.nextKey() != null ? row.nextKey() : one ? only : apart ? namespace + '/' : null;
        String last = one ? only : apart ? namespace + (char) ('/' + 1) : null;
        try (KeyValueIterator<String, StoredTask> rows = tasks.range(first, last)) {
            for (int looked = 0; rows.hasNext(); looked++) {
                if (looked == ROWS_AT_ONCE || found.size() == TASKS_AT_ONCE) {
                    return rows.peekNextKey();
                }
                KeyValue<String, StoredTask> task = rows.next();
                if (scope.contains(task.value.namespace(), task.value.taskId(), task.value.sessionId())
                        && createdAtMs(task.value) <= row.askedAtMs()) {
                    found.add(task.value);
                }
            }
        }
        return null;
    }

    /** A date after its own last move is one that a sender made up, before ADR 0024. */
    private static long createdAtMs(StoredTask task) {
        long created = task.lineage().createdAtMs();
        return created > task.updatedAtMs() ? 0 : created;
    }

    private void complete(Row row, Instant now) {
        ForgetScope scope = row.scope();
        Set<Integer> elsewhere = elsewhere(row, scope);
        Event forgotten = filed(
                        row.request().derive(KnownEventType.TASKS_FORGOTTEN, home.partition(), now), row.request())
                .source("agent")
                .payload(new Payload.TasksForgotten(
                        scope.kind().wireName(),
                        scope.taskId(),
                        scope.sessionId(),
                        ForgetScope.forgetId(row.request()),
                        Math.max(0, row.askedAtMs()),
                        home.partition(),
                        scope.kind() == Kind.NAMESPACE ? home.partitions() : 1,
                        row.tasks(),
                        row.cancelled(),
                        row.children() + elsewhere.size()))
                .build();
        outbox.journalOn(home.partition(), forgotten, now);
        outbox.toMemory(forgotten, now);
        outbox.toForgotten(new Forgotten(scope, row.askedAtMs()), now);
        if (scope.kind() != Kind.MEMORY) {
            outbox.toVariables(scope, row.askedAtMs(), now);
        }
        if (!elsewhere.isEmpty()) {
            // each is counted, and has to answer
            Event search = row.request().toBuilder().expiry(null).build();
            outbox.copy(search, elsewhere, row.askedAtMs(), now);
        }
    }

    /**
     * Where else a task is to be looked for: its events have the key of its session, and when its row and what is known
     * of it elsewhere are gone, nobody knows which that was. A partition that is asked asks no other.
     */
    private Set<Integer> elsewhere(Row row, ForgetScope scope) {
        boolean unknown = scope.kind() == Kind.TASK
                && row.tasks() == 0
                && row.request().sessionId() == null
                && Rehoming.home(row.request().sessionKey(), home.partitions()) == home.partition();
        return unknown ? Broadcast.others(home.partition(), home.partitions()) : Set.of();
    }

    /** Under the request and not under what it is about, of which nothing is to be left. */
    private static Event.Builder filed(Event.Builder event, Event request) {
        return event.taskId(ForgetScope.forgetId(request)).sessionId(null);
    }

    private static Event requestFor(String child, Event request, Instant now) {
        String id = Ids.hash(request.id() + "\nforget\n" + child).substring(0, 32);
        return request.derive(id, KnownEventType.FORGET_REQUESTED, now)
                .taskId(child)
                .sessionId(null)
                .source("agent")
                .payload(new ForgetScope(Kind.TASK, request.namespace(), child).request(ForgetScope.forgetId(request)))
                .build();
    }
}
