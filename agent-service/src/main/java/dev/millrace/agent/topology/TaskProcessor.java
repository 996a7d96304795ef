package dev.millrace.agent.topology;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.core.TaskEvent;
import dev.millrace.engine.CommitTiming;
import dev.millrace.engine.Inbox;
import dev.millrace.engine.Outgoing;
import dev.millrace.engine.OutstandingCalls;
import dev.millrace.engine.RejectedRecordException;
import dev.millrace.engine.Sender;
import dev.millrace.engine.UnitOfWork;
import dev.millrace.engine.UnitOfWork.Undone;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Segment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.Punctuator;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thin shell: reads a record and the task's row, lets {@link TaskMove} work out what follows, and has it written.
 * Rows, transcript, journal and requests of one record are a {@link UnitOfWork} and in one transaction: what breaks
 * costs its record or its task, which is found by doing everything once more one by one. Runs on a stream thread, one
 * object per partition.
 */
final class TaskProcessor implements Processor<byte[], LaneDates.Dated, byte[], Outgoing> {

    private static final Logger LOGGER = LoggerFactory.getLogger(TaskProcessor.class);
    private static final Duration SWEEP_INTERVAL = Duration.ofSeconds(30);
    private static final Duration TICK = Duration.ofMillis(200);
    private static final Duration OFTEN = Duration.ofMillis(1);
    /** How much of what is handed over is taken in one turn, so that records do not wait. */
    private static final int HANDED_AT_ONCE = 64;

    private final TaskTopology.Parts parts;
    private final TaskShellSettings settings;
    private ProcessorContext<byte[], Outgoing> context;
    private CommitTiming commits;
    private UnitOfWork unit;
    private Outbox outbox;
    private SeenEvents seen;
    private EarlyCancels cancels;
    private Admission admission;
    private OutstandingCalls<OutstandingCall> calls;
    private LocalCalls localCalls;
    private Inbox.Box<Event> inbox;
    private Set<String> leftOver;
    private MoveWriter writer;
    private Moves moves;
    private TaskForgetting forgetting;
    private DueRows endedTasks;
    private DueRows oldSessions;
    private final Set<String> givenUp = new HashSet<>();
    private final TakenReplies replies = new TakenReplies();
    private long watchedSinceMs;

    @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
    TaskProcessor(TaskTopology.Parts parts, TaskShellSettings settings) {
        this.parts = parts;
        this.settings = settings;
    }

    /** Also called again on the same object after a transaction was aborted, so everything is made anew. */
    @Override
    public void init(ProcessorContext<byte[], Outgoing> processorContext) {
        context = processorContext;
        commits = CommitTiming.of(context, parts.occupancy()::active);
        unit = new UnitOfWork(context, settings.topics(), context.getStateStore(TaskStores.ROWS), this::readRowsAnew);
        outbox = new Outbox(
                new Sender(context, settings.topics(), unit),
                settings.topics(),
                parts.metrics(),
                parts.tracing(),
                commits);
        boolean rowsLast = settings.endedRetention().compareTo(settings.seenRetention()) >= 0;
        seen = new SeenEvents(
                context.getStateStore(TaskStores.SEEN),
                settings.seenRetention(),
                key -> rowsLast && writer.task(key) != null);
        cancels = new EarlyCancels(context.getStateStore(TaskStores.CANCELS));
        calls = new OutstandingCalls<>(
                TaskStores.CALLS.in(unit.rows()),
                OutstandingCall::key,
                parts.modelCalls(),
                partition(),
                OutstandingCall::takenOver,
                unit::whenKept);
        watchedSinceMs = context.currentSystemTimeMs();
        replies.forget();
        readRowsAnew();
        inbox = parts.inbox().open(partition());

        every(TICK, nowMs -> endedTasks.run(nowMs));
        every(TICK, nowMs -> oldSessions.run(nowMs));
        every(SWEEP_INTERVAL, nowMs -> forgetting.sweep(nowMs));
        context.schedule(TICK, PunctuationType.WALL_CLOCK_TIME, this::tick);
        context.schedule(OFTEN, PunctuationType.WALL_CLOCK_TIME, this::takeHanded);
        calls.fenceOff();
        leftOver = localCalls.keys();
        tellOccupancy();
    }

    /** Makes what is known of rows in memory, as the store has them. */
    private void readRowsAnew() {
        KeyValueStore<Bytes, byte[]> rows = unit.rows();
        KeyValueStore<String, StoredTask> tasks = TaskStores.TASKS.in(rows);
        admission = new Admission(TaskStores.ADMISSION.in(rows), settings.admission());
        int here = partition();
        localCalls = new LocalCalls(
                TaskStores.LOCAL_CALLS.in(rows),
                parts.localTools(),
                parts.routing()::onlyReads,
                unit::whenKept,
                reply -> parts.inbox().offer(here, reply));
        writer = new MoveWriter(rows, calls, localCalls, seen, outbox);
        Sessions sessions = new Sessions(TaskStores.SESSIONS.in(rows), TaskStores.USED_SESSIONS.in(rows));
        Timers timers =
                new Timers(TaskStores.TIMERS.in(rows), state -> parts.machine().wakeAt(state, watchedSinceMs));
        moves = new Moves(
                parts, settings.reflection(), writer, new Moves.Standing(admission, sessions, timers, watchedSinceMs));
        forgetting = new TaskForgetting(
                new TaskForgetting.Known(TaskStores.FORGOTTEN.in(rows), tasks, cancels),
                new TaskForgetting.Home(partition(), settings.partitions(), givenUp),
                moves,
                outbox);
        endedTasks = writer.sweep(settings.endedRetention());
        oldSessions = sessions.sweep(settings.sessionRetention());
    }

    private void every(Duration interval, Punctuator work) {
        context.schedule(interval, PunctuationType.WALL_CLOCK_TIME, nowMs -> unit.attempt(() -> work.punctuate(nowMs)));
    }

    @Override
    public void close() {
        inbox.close();
        commits.close();
        parts.occupancy().leave(partition());
    }

    private void tick(long nowMs) {
        Instant now = Instant.ofEpochMilli(nowMs);
        if (!leftOver.isEmpty()) {
            Set<String> calls = leftOver;
            leftOver = Set.of();
            unit.attempt(() -> localCalls.handOn(calls).forEach(call -> outbox.request(call, now)));
        }
        boolean broke = unit.attempt(() -> {
                    forgetting.run(now);
                    moves.wake(now);
                })
                .isPresent();
        if (broke) {
            boolean more = true;
            while (more) {
                more = onItsOwn(manner -> moves.wake(now, 1, manner));
            }
            goOn(now);
        }
        tellOccupancy();
    }

    @Override
    public void process(Record<byte[], LaneDates.Dated> incoming) {
        if (OutstandingCalls.isFence(incoming.headers(), incoming.value().value())) {
            unit.attempt(() -> calls.passFence(incoming.headers()));
        } else if (!outbox.isFromLane(Segment.COGNITIVE) || !replies.isSecond(incoming.headers(), calls)) {
            long nowMs = context.currentSystemTimeMs();
            commits.taken(nowMs);
            arrived(new OfLane(incoming), Instant.ofEpochMilli(nowMs));
        }
    }

    /** Takes replies that come from hand to hand. */
    private void takeHanded(long nowMs) {
        for (int i = 0; i < HANDED_AT_ONCE; i++) {
            Event reply = inbox.poll();
            if (reply == null) {
                return;
            }
            if (!replies.isTaken(reply.id())) {
                commits.taken(nowMs);
                arrived(new OfHand(reply), Instant.ofEpochMilli(nowMs));
            }
        }
    }

    /** Something to take, and what becomes of it if that is not possible. */
    private sealed interface Arrival {}

    private record OfLane(Record<byte[], LaneDates.Dated> incoming) implements Arrival {}

    private record OfHand(Event reply) implements Arrival {}

    private void arrived(Arrival arrival, Instant now) {
        Optional<Undone> undone = unit.attempt(() -> {
            receive(arrival, now);
            forgetting.run(now);
            moves.admit(now);
        });
        if (undone.isPresent()) {
            receiveOnItsOwn(arrival, undone.get(), now);
            goOn(now);
        }
        tellOccupancy();
    }

    private void receive(Arrival arrival, Instant now) throws MalformedEventException, RejectedRecordException {
        switch (arrival) {
            case OfLane(Record<byte[], LaneDates.Dated> incoming) -> receive(incoming, now);
            case OfHand(Event reply) -> {
                takeReply(reply, now);
                localCalls.settle(reply);
            }
        }
    }

    private void receive(Record<byte[], LaneDates.Dated> incoming, Instant now)
            throws MalformedEventException, RejectedRecordException {
        outbox.requireBearable(incoming);
        Event event = event(incoming);
        outbox.taking(event.id(), incoming.value().timestampMs());
        if (isAheadOfItsTurn(event)) {
            outbox.lane(event, now);
        } else if (Broadcast.isOne(event)) {
            takeBroadcast(incoming, event, now);
        } else if (isHome(event)) {
            take(incoming, event, now);
        } else {
            sendHome(incoming, event);
        }
    }

    /**
     * Takes what could not be taken together with what goes on beside it; if it is at fault, it is put aside.
     */
    private void receiveOnItsOwn(Arrival arrival, Undone before, Instant now) {
        Optional<Undone> undone = before.defect()
                ? unit.attempt(() -> {
                    receive(arrival, now);
                    moves.settle();
                })
                : Optional.of(before);
        if (undone.isEmpty()) {
            return;
        }
        Undone why = undone.get();
        boolean answered = why.defect()
                && unit.attempt(() -> {
                            failCall(arrival, why, now);
                            moves.settle();
                            putAside(arrival, why);
                        })
                        .isEmpty();
        if (!answered) {
            unit.attempt(() -> putAside(arrival, why));
        }
    }

    /** Whoever waits for a reply that cannot be taken hears so at once. */
    private void failCall(Arrival arrival, Undone why, Instant now)
            throws MalformedEventException, RejectedRecordException {
        Event reply =
                switch (arrival) {
                    case OfLane(Record<byte[], LaneDates.Dated> incoming) -> event(incoming);
                    case OfHand(Event handed) -> handed;
                };
        Event failure = FailedReplies.inPlaceOf(reply, why).orElse(null);
        if (failure != null && isHome(failure)) {
            process(failure, false, receivedMs(arrival, now), now);
        }
    }

    private static long receivedMs(Arrival arrival, Instant now) {
        return arrival instanceof OfLane(Record<byte[], LaneDates.Dated> incoming)
                ? incoming.value().timestampMs()
                : now.toEpochMilli();
    }

    /** What came from hand to hand has no place of its own among the dead letters; the log has it. */
    private void putAside(Arrival arrival, Undone why) {
        switch (arrival) {
            case OfLane(Record<byte[], LaneDates.Dated> incoming) ->
                outbox.deadLetter(incoming, why.reason(), why.detail());
            case OfHand(Event reply) ->
                LOGGER.atError()
                        .addKeyValue("eventId", reply.id())
                        .addKeyValue("taskId", reply.taskId())
                        .addKeyValue("errorCode", why.reason())
                        .log("A reply could not be taken; its call has failed");
        }
    }

    /** What goes on beside records, when some of it broke: each task by itself. */
    private void goOn(Instant now) {
        boolean broke = unit.attempt(() -> {
                    forgetting.run(now);
                    moves.admit(now);
                })
                .isPresent();
        if (broke) {
            if (unit.attempt(() -> forgetting.run(now)).isPresent()) {
                forgetting.giveUp();
            }
            boolean more = true;
            while (more) {
                more = onItsOwn(manner -> moves.admitNext(now, manner));
            }
        }
    }

    /** Moves one task in the first manner that does not break; returns whether there was one. */
    private boolean onItsOwn(Predicate<Moves.Manner> move) {
        for (Moves.Manner manner : Moves.Manner.values()) {
            AtomicBoolean found = new AtomicBoolean();
            boolean kept = unit.attempt(() -> {
                        found.set(move.test(manner));
                        moves.settle();
                    })
                    .isEmpty();
            if (kept) {
                return found.get();
            }
        }
        // not even leaving it alone is possible; others have their turn with the next tick
        return false;
    }

    private static Event event(Record<byte[], LaneDates.Dated> incoming) throws MalformedEventException {
        return EventCodec.fromRecord(
                incoming.headers(),
                incoming.value().value(),
                Instant.ofEpochMilli(incoming.value().timestampMs()));
    }

    /**
     * What concerns every partition: goes to all of them by way of one, so that it comes in the same order everywhere.
     */
    private void takeBroadcast(Record<byte[], LaneDates.Dated> incoming, Event event, Instant now)
            throws RejectedRecordException {
        boolean copy = incoming.headers().lastHeader(Outbox.BROADCAST) != null;
        if (!copy && partition() != Broadcast.FIRST_PARTITION) {
            outbox.copy(incoming, Set.of(Broadcast.FIRST_PARTITION), Sender.REROUTED);
            return;
        }
        requireSchema(event);
        if (seen.contains(event, now)) {
            discarded(event, DiscardReason.DUPLICATE);
            return;
        }
        if (!hasExpired(event, now)) {
            if (!copy && settings.partitions() > 1) {
                outbox.copy(incoming, Broadcast.others(settings.partitions()), Outbox.BROADCAST);
            }
            if (Broadcast.forgets(event)) {
                forgetting.begin(
                        event,
                        partition() == Broadcast.FIRST_PARTITION,
                        incoming.value().timestampMs(),
                        now);
            } else {
                admission.drain(Broadcast.stopsAdmission(event));
            }
        }
        if (partition() == Broadcast.FIRST_PARTITION && !Broadcast.forgets(event)) {
            record(event, now);
        }
        unit.whenKept(() -> seen.add(event, now));
    }

    private void take(Record<byte[], LaneDates.Dated> incoming, Event event, Instant now)
            throws RejectedRecordException {
        requireSchema(event);
        requireOwnId(event);
        boolean external = SeenEvents.isExternal(event);
        if (external && seen.contains(event, now)) {
            discarded(event, DiscardReason.DUPLICATE);
            return;
        }
        long receivedMs = incoming.value().timestampMs();
        if (isForgotten(event, receivedMs, now)) {
            return;
        }
        if (hasExpired(event, now)) {
            record(event, now);
        } else if (external && event.taskId() != null && !isHere(event.namespace(), event.taskId())) {
            if (!takeForAbsent(incoming, event, event.taskId(), now)) {
                return;
            }
        } else if (event.type() == KnownEventType.FORGET_REQUESTED) {
            forgetting.begin(event, true, incoming.value().timestampMs(), now);
        } else {
            process(asAnswer(event), external, receivedMs, now);
        }
        if (external) {
            unit.whenKept(() -> seen.add(event, now));
        } else {
            unit.whenKept(() -> replies.taken(event.id()));
        }
    }

    /** Takes a reply of this process: as its schema has it, and on the partition of its task. */
    private void takeReply(Event reply, Instant now) throws RejectedRecordException {
        if (!isForgotten(reply, now.toEpochMilli(), now)) {
            process(reply, false, now.toEpochMilli(), now);
        }
        unit.whenKept(() -> replies.taken(reply.id()));
    }

    private boolean isForgotten(Event event, long receivedMs, Instant now) {
        boolean forgotten = forgetting.covers(event, receivedMs, taskId -> isHere(event.namespace(), taskId));
        if (forgotten) {
            TaskForgetting.paidFor(event).ifPresent(paid -> outbox.journal(paid, now));
            discarded(event, DiscardReason.UNKNOWN_TASK);
        }
        return forgotten;
    }

    /**
     * Takes an event that names a task which is not here: because it belongs to a session that the event does not name,
     * or because it has not come yet.
     *
     * @return false if the event was sent elsewhere
     */
    private boolean takeForAbsent(Record<byte[], LaneDates.Dated> incoming, Event event, String taskId, Instant now)
            throws RejectedRecordException {
        if (event.sessionId() == null) {
            Event named = event.toBuilder()
                    .sessionId(parts.sessions()
                            .sessionOf(event.namespace(), taskId)
                            .orElse(null))
                    .build();
            if (!isHome(named)) {
                outbox.sendHome(incoming, named);
                return false;
            }
        }
        if (event.type() == KnownEventType.TASK_CANCEL_REQUESTED) {
            unit.whenKept(() -> cancels.add(Event.qualified(event.namespace(), taskId), event, now));
            outbox.journal(event, now, "early");
            parts.metrics().accepted(event.type());
        } else if (event.type() == KnownEventType.FORGET_REQUESTED) {
            forgetting.begin(event, true, incoming.value().timestampMs(), now);
        } else {
            process(event, true, incoming.value().timestampMs(), now);
        }
        return true;
    }

    private boolean isHere(String namespace, String taskId) {
        return writer.task(Event.qualified(namespace, taskId)) != null;
    }

    /** The next message of a session in which a task waits for an answer is that answer. */
    private Event asAnswer(Event event) {
        return event.type() == KnownEventType.MESSAGE_RECEIVED && event.taskId() == null && event.sessionId() != null
                ? admission
                        .answerable(StoredTask.conversation(event.namespace(), event.sessionId()))
                        .map(holder -> event.withTaskId(holder.taskId()))
                        .orElse(event)
                : event;
    }

    private void process(Event event, boolean external, long receivedMs, Instant now) throws RejectedRecordException {
        Decided decided = decide(event, receivedMs, now);
        if (decided == null) {
            record(event, now);
            return;
        }
        TaskMove move = decided.move();
        if (move.discarded() == null) {
            moves.commit(decided.before(), move, decided.event(), now);
            parts.metrics().accepted(event.type());
        } else if (!move.toOthers().isEmpty()) {
            move.toOthers().forEach(answer -> outbox.lane(answer, now));
            discarded(event, move.discarded());
        } else if (LateReplies.isReply(event)) {
            LateReplies.abandoned(event, move.discarded()).ifPresent(paidFor -> outbox.journal(paidFor, now));
            discarded(event, move.discarded());
        } else if (move.discarded() == DiscardReason.UNKNOWN_TASK && external) {
            throw new RejectedRecordException(
                    "unknown_task",
                    "expected the id of a task in ce_subject, and the task's session in the header sessionid if it has"
                            + " one, found no task " + event.taskId() + " here");
        } else if (move.discarded() != DiscardReason.DUPLICATE && carriesInput(event)) {
            // somebody's words: they are not dropped without a trace
            throw new RejectedRecordException(
                    move.discarded().name().toLowerCase(Locale.ROOT),
                    "expected a task that takes input, found that " + event.taskId() + " does not: "
                            + move.discarded());
        } else {
            discarded(event, move.discarded());
        }
    }

    /** What follows from an event, and from where. */
    private record Decided(StoredTask before, Event event, TaskMove move) {}

    /** Works out what follows; {@code null} = the event is for no task and is only recorded. Writes nothing. */
    private @Nullable Decided decide(Event event, long receivedMs, Instant now) throws RejectedRecordException {
        String taskId = EventMapping.taskIdOf(event);
        StoredTask row = taskId == null ? null : writer.task(Event.qualified(event.namespace(), taskId));
        StoredTask before = row != null || taskId == null ? row : StoredTask.absent(event, taskId, receivedMs);
        EventMapping.Mapped mapped = parts.mapping()
                .fromLane(
                        event,
                        taskId == null ? event.id() : taskId,
                        before == null ? AgentPin.NONE : before.agent(),
                        now.toEpochMilli());
        return switch (mapped) {
            case EventMapping.Refused refused -> throw new RejectedRecordException(refused.reason(), refused.detail());
            case EventMapping.RecordOnly ignored -> null;
            case EventMapping.ForTask forTask -> {
                if (before == null) {
                    throw new RejectedRecordException(
                            "no_task", event.type().wireName() + ": expected a task id in ce_subject, found none");
                }
                if (row == null && !event.id().equals(taskId) && forTask.event() instanceof TaskEvent.InputReceived) {
                    throw new RejectedRecordException(
                            "unknown_task",
                            "expected no ce_subject (which starts a task) or that of an existing task, found no task "
                                    + taskId);
                }
                requireFitting(forTask.event(), before);
                Event adopted = before.adopt(event);
                TaskMove move = moves.of(before);
                if (row == null && forTask.event() instanceof TaskEvent.InputReceived) {
                    String unknown = parts.mapping().unknownAgent(event).orElse(null);
                    if (unknown != null && !move.refuse(adopted, unknown)) {
                        throw new RejectedRecordException(ErrorCode.UNKNOWN_AGENT.code(), "taskType: " + unknown);
                    }
                }
                if (move.discarded() == null) {
                    move.apply(adopted, forTask.event());
                }
                if (row == null && move.discarded() == null) {
                    stopIfUnwanted(move, adopted, now);
                }
                yield new Decided(before, adopted, move);
            }
        };
    }

    /** A decision with arguments that the tool cannot take decides nothing: the call waits for another one. */
    private void requireFitting(TaskEvent event, StoredTask before) throws RejectedRecordException {
        if (event instanceof TaskEvent.ApprovalDecided decision) {
            String unfit = parts.mapping().unfit(decision, before.state()).orElse(null);
            if (unfit != null) {
                throw new RejectedRecordException(ErrorCode.INVALID_ARGUMENTS.code(), "params: " + unfit);
            }
        }
    }

    /** A task that has just come may have been cancelled before, or may be one too many. */
    private void stopIfUnwanted(TaskMove move, Event start, Instant now) {
        Event cancel = cancels.of(move.task().key(), now);
        if (cancel != null) {
            EventMapping.Mapped mapped = parts.mapping()
                    .ofTask(cancel, move.task().taskId(), move.task().agent(), now.toEpochMilli());
            if (mapped instanceof EventMapping.ForTask(TaskEvent cancelled)) {
                move.advance(move.task().adopt(cancel), cancelled);
            }
        } else if (move.task().state().wantsAdmission() && admission.turnsAway()) {
            Moves.fail(
                    move,
                    start,
                    ErrorCode.ADMISSION_REJECTED,
                    "expected one of " + settings.admission().maxActiveTasks() + " places to be free, found all taken",
                    now);
        }
    }

    private void record(Event event, Instant now) {
        if (hasExpired(event, now)) {
            outbox.journal(event, now, "expired");
        } else {
            outbox.journal(event, now);
            parts.metrics().accepted(event.type());
        }
    }

    private static boolean hasExpired(Event event, Instant now) {
        return event.expiry() != null && event.expiry().isBefore(now);
    }

    private static void requireSchema(Event event) throws RejectedRecordException {
        List<String> problems = EventSchemas.problems(event);
        if (!problems.isEmpty()) {
            throw new RejectedRecordException("schema_violation", String.join("; ", problems));
        }
    }

    /** An id is that of one task: who uses it in another session neither starts a second one nor gets at the first. */
    private void requireOwnId(Event event) throws RejectedRecordException {
        if (event.taskId() != null || !event.id().equals(EventMapping.taskIdOf(event))) {
            return;
        }
        StoredTask row = writer.task(Event.qualified(event.namespace(), event.id()));
        boolean another = row == null
                ? parts.sessions().isElsewhere(event.namespace(), event.id(), partition())
                : !Objects.equals(row.sessionId(), event.sessionId());
        if (another) {
            throw new RejectedRecordException(
                    ErrorCode.DUPLICATE_ID.code(),
                    "expected an id that no task has, found that of a task in another session: " + event.id());
        }
    }

    /**
     * Whether it stands on the lane of cancels and is none of the system's: whoever put it there waits like everybody
     * else.
     */
    private boolean isAheadOfItsTurn(Event event) {
        return event.type().segment() != Segment.SYSTEM && outbox.isFromLane(Segment.SYSTEM);
    }

    private boolean isHome(Event event) {
        byte[] key = event.sessionKey().getBytes(StandardCharsets.UTF_8);
        return Utils.toPositive(Utils.murmur2(key)) % settings.partitions() == partition();
    }

    private void sendHome(Record<byte[], LaneDates.Dated> incoming, Event event) throws RejectedRecordException {
        if (incoming.headers().lastHeader(Sender.REROUTED) != null) {
            throw new RejectedRecordException(
                    "wrong_partition",
                    "expected on the partition of the key " + event.sessionKey() + ", found on " + partition()
                            + " after it had been sent there once");
        }
        outbox.sendHome(incoming, event.sessionKey());
    }

    private void discarded(Event event, DiscardReason reason) {
        parts.metrics().discarded(event.type(), reason);
        LOGGER.atDebug()
                .addKeyValue("eventId", event.id())
                .addKeyValue("eventType", event.type().wireName())
                .addKeyValue("reason", reason)
                .log("An event changed nothing");
    }

    private static boolean carriesInput(Event event) {
        return switch (event.payload()) {
            case Payload.TaskInput input -> true;
            case Payload.TaskResumed resumed -> resumed.newInput() != null;
            default -> false;
        };
    }

    private void tellOccupancy() {
        parts.occupancy().set(partition(), admission.active(), admission.waiting());
    }

    private int partition() {
        return context.taskId().partition();
    }
}
