package dev.millrace.agent.topology;

import dev.millrace.agent.ToolRouting;
import dev.millrace.engine.RefusedByTopicException;
import dev.millrace.engine.RejectedRecordException;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.ToolDefinition.Processes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Events that processors look at before anything else is done with them: one processor after the other, and one event
 * of a session after the other, so that none overtakes. An event stands in a row until it is settled, and the row goes
 * in the transaction in which that happens. For one stream thread, and for one life of its stores.
 */
final class Processing {

    /** As many events are held on a partition. */
    static final int MAX_HELD = 10_000;
    /** As many events are taken in place of one. */
    static final int MAX_PRODUCED = 20;
    /** As many tasks and events may lead to one that a processor produces, each to the next. */
    static final int MAX_DEPTH = 16;
    /** Longer than a processor has said it may take, before its silence counts, in milliseconds. */
    static final long GRACE_MS = 1_000;
    /** What the source of an event begins with that a processor has produced. */
    static final String SOURCE = "processor/";

    private static final Logger LOGGER = LoggerFactory.getLogger(Processing.class);
    private static final String CALL = "processor-";
    private static final String FAILED = "processor.failed";
    private static final String PRODUCED = "producedEvents";
    private static final int MAX_ERROR = 1_000;
    private static final int NUMBER_DIGITS = 16;
    /** So long after a partition has come here its answers may still be on the lane, in milliseconds. */
    private static final long ON_ITS_WAY_MS = 5_000;

    private final KeyValueStore<String, Row> store;
    private final ToolRouting routing;
    private final Outbox outbox;
    private final ShellMetrics metrics;
    /** Keys of rows by session, in the order of arrival. */
    private final Map<String, TreeSet<String>> lines = new HashMap<>();

    private final Map<String, String> byCall = new HashMap<>();
    private final TreeSet<String> byTime = new TreeSet<>();
    private final long watchedSinceMs;
    private long last;
    private int held;

    /**
     * An event that is held.
     *
     * @param receivedMs when it came, in Unix milliseconds
     * @param place where it was read
     * @param external whether somebody outside has sent it
     * @param producers which processors have led to it, each by what it produced: they are not asked again
     * @param passed which processors have let it go on
     * @param asked whose answer is awaited; {@code null} = its turn has not come
     */
    record Row(
            Event event,
            long receivedMs,
            Place place,
            boolean external,
            List<String> producers,
            List<String> passed,
            @Nullable Asked asked) {

        Row asking(Asked whom) {
            return new Row(event, receivedMs, place, external, producers, passed, whom);
        }

        Row past(String processor) {
            List<String> more =
                    Stream.concat(passed.stream(), Stream.of(processor)).toList();
            return new Row(event, receivedMs, place, external, producers, more, null);
        }

        Row of(Event produced, String processor) {
            List<String> more =
                    Stream.concat(producers.stream(), Stream.of(processor)).toList();
            return new Row(produced, receivedMs, place, false, more, List.of(), null);
        }

        String line() {
            return event.sessionKey();
        }
    }

    /** Where an event was read. */
    record Place(String topic, int partition, long offset) {}

    /**
     * A processor that was asked.
     *
     * @param required whether the event goes no further without it
     * @param dueAtMs when its silence counts as a failure, in Unix milliseconds
     */
    record Asked(String processor, String callId, boolean required, long dueAtMs) {}

    /** What is done with an event that is held no more; whatever is refused is put aside. */
    interface Onward {
        /** What is built in. */
        void deliver(Row row, Instant now) throws RejectedRecordException;

        /** It was replaced; others follow in its place. */
        void overwritten(Row row, String by, Instant now) throws RejectedRecordException;

        /** It goes no further. */
        void stopped(Row row, String why, Instant now) throws RejectedRecordException;
    }

    /** What a processor has made of an event. */
    private sealed interface Verdict {
        record Passed() implements Verdict {}

        record Replaced(List<Event> by) implements Verdict {}

        record Broken(String why) implements Verdict {}
    }

    /**
     * As the store has them.
     *
     * @param watchedSinceMs since when this instance has had the partition, in Unix milliseconds
     */
    Processing(
            KeyValueStore<String, Row> store,
            ToolRouting routing,
            Outbox outbox,
            ShellMetrics metrics,
            long watchedSinceMs) {
        this.store = store;
        this.routing = routing;
        this.outbox = outbox;
        this.metrics = metrics;
        this.watchedSinceMs = watchedSinceMs;
        try (KeyValueIterator<String, Row> all = store.all()) {
            all.forEachRemaining(row -> {
                remember(row.key, row.value);
                last = Math.max(last, number(row.key));
            });
        }
    }

    /** The number of the event that a row's key begins with: that which came, or that others stand in place of. */
    static long number(String key) {
        return Long.parseUnsignedLong(key.substring(0, NUMBER_DIGITS), 16);
    }

    /** The same key with another number. */
    static String numbered(String key, long number) {
        return key(number) + key.substring(NUMBER_DIGITS);
    }

    private static String key(long number) {
        return String.format("%016x", number);
    }

    /** Whether this is an answer of a processor, or too late for one. */
    static boolean isAnswer(Event event) {
        return switch (event.payload()) {
            case Payload.ToolCallCompleted done -> done.callId().startsWith(CALL);
            case Payload.ToolCallFailed failed -> failed.callId().startsWith(CALL);
            default -> false;
        };
    }

    /** Whether an event is to be looked at before anything else is done with it, or would overtake one that is. */
    boolean concerns(Event event) {
        boolean ofTheMachine = event.payload() instanceof Payload.BackgroundTaskEnded ended
                && ended.callId() != null
                && event.taskId() != null;
        return Processes.mayBeProcessed(event.type())
                && !ofTheMachine
                && (lines.containsKey(event.sessionKey())
                        || !routing.processorsOf(event.type()).isEmpty());
    }

    /**
     * Holds an event, and asks if it is its turn.
     *
     * @throws RejectedRecordException if too many are held
     */
    void hold(Event event, long receivedMs, boolean external, Instant now, Onward onward)
            throws RejectedRecordException {
        if (held >= MAX_HELD) {
            throw new RejectedRecordException(
                    "too_many_held",
                    "expected fewer than " + MAX_HELD + " events to wait for processors, found as many");
        }
        last++;
        String key = key(last);
        Row row = new Row(event, receivedMs, outbox.place(), external, List.of(), List.of(), null);
        put(key, row);
        goOn(row.line(), now, onward);
    }

    /**
     * Takes the answer of a processor.
     *
     * @return false if nobody waits for it
     */
    boolean answered(Event answer, Instant now, Onward onward) {
        String callId =
                switch (answer.payload()) {
                    case Payload.ToolCallCompleted done -> done.callId();
                    case Payload.ToolCallFailed failed -> failed.callId();
                    default -> "";
                };
        String key = byCall.get(callId);
        Row row = key == null ? null : store.get(key);
        Asked asked = row == null ? null : row.asked();
        if (key == null || row == null || asked == null) {
            return false;
        }
        Verdict verdict =
                switch (answer.payload()) {
                    case Payload.ToolCallCompleted done -> verdict(row, asked.processor(), done.result(), now);
                    case Payload.ToolCallFailed failed -> new Verdict.Broken(failed.error());
                    default -> throw new IllegalStateException("no answer: " + answer.type());
                };
        settle(key, row, asked, verdict, now, onward);
        goOn(row.line(), now, onward);
        return true;
    }

    /** Keys of rows whose processor has been silent for too long, so many at most. */
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

    /** The silence of a processor counts as its failure. */
    void timeOut(String key, Instant now, Onward onward) {
        Row row = store.get(key);
        Asked asked = row == null ? null : row.asked();
        if (row != null && asked != null) {
            settle(key, row, asked, new Verdict.Broken("it has not answered in time"), now, onward);
            goOn(row.line(), now, onward);
        }
    }

    /** The session of a row; {@code null} = it is gone. */
    @Nullable
    String line(String key) {
        Row row = store.get(key);
        return row == null ? null : row.line();
    }

    /** Puts the first event of a session aside, since a defect keeps it from going on. */
    void giveUp(String line, Instant now) {
        TreeSet<String> keys = lines.get(line);
        String key = keys == null ? null : keys.first();
        Row row = key == null ? null : store.get(key);
        if (key != null && row != null) {
            remove(key, row);
            putAside(row, "internal_error", "a defect; the log tells more", now);
        }
    }

    /** Does what can be done for the events of a session. */
    void goOn(String line, Instant now, Onward onward) {
        for (TreeSet<String> keys = lines.get(line); keys != null; keys = lines.get(line)) {
            String key = keys.first();
            Row row = store.get(key);
            if (row == null) {
                throw new IllegalStateException("a row is remembered and gone: " + key);
            }
            if (row.asked() != null) {
                return;
            }
            ToolDefinition next = next(row);
            if (next == null) {
                remove(key, row);
                outbox.taking(row.event().id(), row.receivedMs());
                orAside(row, now, () -> onward.deliver(row, now));
            } else {
                Asked asked = asked(row, next, now);
                put(key, row.asking(asked));
                String why = ask(row, next, asked, now);
                if (why == null) {
                    return;
                }
                settle(key, row, asked, new Verdict.Broken(why), now, onward);
            }
        }
    }

    private @Nullable ToolDefinition next(Row row) {
        return routing.processorsOf(row.event().type()).stream()
                .filter(one ->
                        !row.producers().contains(one.name()) && !row.passed().contains(one.name()))
                .findFirst()
                .orElse(null);
    }

    private static Asked asked(Row row, ToolDefinition processor, Instant now) {
        Event event = row.event();
        String callId = CALL
                + Ids.hash(event.namespace() + '\n' + event.id() + '\n' + processor.name())
                        .substring(0, 32);
        boolean required =
                processor.processes() != null && processor.processes().required();
        return new Asked(processor.name(), callId, required, now.toEpochMilli() + processor.timeoutMs() + GRACE_MS);
    }

    /** Asks the processor; says why, if that is not possible. */
    private @Nullable String ask(Row row, ToolDefinition processor, Asked asked, Instant now) {
        if (!routing.isServed(processor)) {
            return "its toolset has no request topic: " + processor.toolset();
        }
        Event event = row.event();
        String callId = asked.callId();
        Event request = event.derive(callId, KnownEventType.TOOL_CALL_REQUESTED, now)
                .taskId(event.taskId() == null ? event.id() : event.taskId())
                .source("agent")
                .priority(event.effectivePriority())
                .payload(new Payload.ToolCallRequested(
                        callId,
                        callId,
                        processor.name(),
                        JsonObject.of(Map.of("event", EventJson.toJson(event))),
                        null,
                        null,
                        processor.timeoutMs()))
                .build();
        try {
            outbox.request(new TaskMove.Request(processor.toolset(), callId, request), now);
            return null;
        } catch (RefusedByTopicException e) {
            return e.getMessage();
        }
    }

    private void settle(String key, Row row, Asked asked, Verdict verdict, Instant now, Onward onward) {
        outbox.taking(row.event().id(), row.receivedMs());
        switch (verdict) {
            case Verdict.Passed() -> {
                metrics.processed(asked.processor(), "passed");
                put(key, row.past(asked.processor()));
            }
            case Verdict.Replaced(List<Event> produced) -> {
                metrics.processed(asked.processor(), HeaderNames.OVERWRITTEN);
                remove(key, row);
                orAside(row, now, () -> onward.overwritten(row, asked.processor(), now));
                for (int i = 0; i < produced.size(); i++) {
                    // behind the one that they replace, and before all that came after it
                    put(String.format("%s.%02d", key, i), row.of(produced.get(i), asked.processor()));
                }
            }
            case Verdict.Broken(String why) -> {
                metrics.processed(asked.processor(), "failed");
                tellOfFailure(row, asked, why, now);
                if (asked.required()) {
                    remove(key, row);
                    String said = "processor " + asked.processor() + ": " + JsonText.cut(why, MAX_ERROR);
                    orAside(row, now, () -> onward.stopped(row, said, now));
                } else {
                    put(key, row.past(asked.processor()));
                }
            }
        }
    }

    private void tellOfFailure(Row row, Asked asked, String why, Instant now) {
        LOGGER.atWarn()
                .addKeyValue("eventId", row.event().id())
                .addKeyValue("processor", asked.processor())
                .addKeyValue("required", asked.required())
                .addKeyValue("problem", why)
                .log("A processor has failed");
        JsonObject told = JsonObject.builder()
                .put("processor", asked.processor())
                .put("eventId", row.event().id())
                .put("eventType", row.event().type().wireName())
                .put("error", JsonText.cut(why, MAX_ERROR))
                .put("required", asked.required())
                .build();
        Event failed = row.event()
                .derive(Ids.hash(asked.callId() + '\n' + FAILED).substring(0, 32), EventType.of(FAILED), now)
                .taskId(null)
                .source("agent")
                .payload(told)
                .build();
        outbox.journal(failed, now);
    }

    private static Verdict verdict(Row row, String processor, @Nullable Object result, Instant now) {
        if (!(result instanceof Map<?, ?> said)
                || !(said.get(PRODUCED) instanceof List<?> produced)
                || produced.size() > MAX_PRODUCED) {
            return new Verdict.Broken("expected {\"producedEvents\": [at most " + MAX_PRODUCED + " events]}");
        }
        if (produced.isEmpty()) {
            return new Verdict.Passed();
        }
        if (row.event().causalDepth() >= MAX_DEPTH) {
            return new Verdict.Broken("expected at most " + MAX_DEPTH + " events to lead to one, each to the next");
        }
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < produced.size(); i++) {
            try {
                events.add(produced(row.event(), processor, i, produced.get(i), now));
            } catch (IllegalArgumentException e) {
                return new Verdict.Broken(PRODUCED + "[" + i + "]: " + e.getMessage());
            }
        }
        return new Verdict.Replaced(events);
    }

    /** What was produced, in the session of the event that it replaces, and as urgent. */
    private static Event produced(Event from, String processor, int ordinal, @Nullable Object said, Instant now) {
        if (!(said instanceof Map<?, ?> fields)
                || !(fields.get("type") instanceof String name)
                || !(fields.get("payload") instanceof Map<?, ?> payload)) {
            throw new IllegalArgumentException("expected {\"type\": text, \"payload\": object}");
        }
        EventType type = EventType.of(name);
        if (!Processes.mayBeProcessed(type)) {
            throw new IllegalArgumentException("type: expected one that starts tasks, or an open one, found " + name);
        }
        Event event = from.derive(
                        Ids.hash(from.namespace() + '\n' + from.id() + '\n' + processor + '\n' + ordinal)
                                .substring(0, 32),
                        type,
                        now)
                .source(SOURCE + processor)
                // what is of no session and no task has its own id as its key: this keeps it on the partition
                .sessionId(from.sessionId() == null && from.taskId() == null ? from.id() : from.sessionId())
                .priority(from.effectivePriority())
                .causalDepth(from.causalDepth() + 1)
                .payload(JsonObject.of(payload))
                .build();
        List<String> problems = EventSchemas.problems(event);
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", problems));
        }
        return event;
    }

    /** Those that are in a scope are not asked about any more. */
    void forget(ForgetScope scope) {
        Map<String, Row> meant = new LinkedHashMap<>();
        try (KeyValueIterator<String, Row> all = store.all()) {
            all.forEachRemaining(row -> {
                Event event = row.value.event();
                if (scope.contains(event.namespace(), null, event.sessionId())) {
                    meant.put(row.key, row.value);
                }
            });
        }
        meant.forEach(this::remove);
    }

    /** Something that may refuse what it is given. */
    private interface Step {
        void run() throws RejectedRecordException;
    }

    private void orAside(Row row, Instant now, Step step) {
        try {
            step.run();
        } catch (RejectedRecordException e) {
            putAside(row, e.reason(), String.valueOf(e.getMessage()), now);
        }
    }

    /** Whoever waits for a child that it would have started is told. */
    private void putAside(Row row, String reason, String detail, Instant now) {
        outbox.deadLetter(
                row.event(),
                new DeadLetters.Origin(
                        row.place().topic(),
                        row.place().partition(),
                        row.place().offset(),
                        row.receivedMs()),
                reason,
                detail);
        FailedReplies.toParent(row.event(), detail).ifPresent(answer -> outbox.lane(answer, now));
    }

    private void put(String key, Row row) {
        Row before = store.get(key);
        if (before != null) {
            forget(key, before);
        }
        store.put(key, row);
        remember(key, row);
    }

    private void remove(String key, Row row) {
        Row stored = store.delete(key);
        forget(key, stored == null ? row : stored);
    }

    private void remember(String key, Row row) {
        held++;
        lines.computeIfAbsent(row.line(), line -> new TreeSet<>()).add(key);
        Asked asked = row.asked();
        if (asked != null) {
            byCall.put(asked.callId(), key);
            byTime.add(TaskStores.timerKey(Math.max(asked.dueAtMs(), watchedSinceMs + ON_ITS_WAY_MS), key));
        }
    }

    private void forget(String key, Row row) {
        held--;
        lines.computeIfPresent(row.line(), (line, keys) -> {
            keys.remove(key);
            return keys.isEmpty() ? null : keys;
        });
        Asked asked = row.asked();
        if (asked != null) {
            byCall.remove(asked.callId());
            byTime.remove(TaskStores.timerKey(Math.max(asked.dueAtMs(), watchedSinceMs + ON_ITS_WAY_MS), key));
        }
    }
}
