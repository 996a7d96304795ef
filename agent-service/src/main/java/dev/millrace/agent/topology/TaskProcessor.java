package dev.millrace.agent.topology;

import dev.millrace.engine.CommitTiming;
import dev.millrace.engine.Inbox;
import dev.millrace.engine.Outgoing;
import dev.millrace.engine.OutstandingCalls;
import dev.millrace.engine.RejectedRecordException;
import dev.millrace.engine.Sender;
import dev.millrace.engine.UnitOfWork;
import dev.millrace.engine.UnitOfWork.Undone;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Segment;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.Punctuator;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thin shell: reads a record and the task's row, lets {@link TaskMove} work out what follows, and has it written.
 * Rows, transcript, journal and requests of one record are a {@link UnitOfWork} and in one transaction: what breaks
 * costs its record or its task, which is found by doing everything once more one by one. What an event is, and whether
 * it is taken, is for {@link Intake} to say. Runs on a stream thread, one
 * object per partition.
 */
final class TaskProcessor implements Processor<byte[], LaneDates.Dated, byte[], Outgoing> {

    private static final Logger LOGGER = LoggerFactory.getLogger(TaskProcessor.class);
    private static final Duration SWEEP_INTERVAL = Duration.ofSeconds(30);
    private static final Duration TICK = TaskTopology.TICK;
    private static final Duration OFTEN = Duration.ofMillis(1);
    /** How much of what is handed over is taken in one turn, so that records do not wait. */
    private static final int HANDED_AT_ONCE = 64;
    /** How many events that have waited are taken at one tick. */
    private static final int RELEASED_AT_ONCE = 100;

    private final TaskTopology.Parts parts;
    private final TaskShellSettings settings;
    private ProcessorContext<byte[], Outgoing> context;
    private CommitTiming commits;
    private KeyValueStore<Bytes, byte[]> store;
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
    private BackgroundProgress progress;
    private TaskForgetting forgetting;
    private Intake intake;
    private EnvironmentEvents environment;
    private Processing processing;
    private ScheduleClock schedules;
    private DueRows endedTasks;
    private DueRows oldSessions;
    private final Map<Integer, Map<String, String>> begun;
    private boolean restarted;
    private final Set<String> givenUp = new HashSet<>();
    private final TakenReplies replies = new TakenReplies();
    private final RuleRates ruleRates;
    private long watchedSinceMs;

    /**
     * For one partition.
     *
     * @param begun the partitions that this process has had before, and what was under way there at first; see {@link
     *     Moves#underWay}
     */
    @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
    TaskProcessor(TaskTopology.Parts parts, TaskShellSettings settings, Map<Integer, Map<String, String>> begun) {
        this.begun = begun;
        this.parts = parts;
        this.settings = settings;
        this.ruleRates = new RuleRates(parts.rules().bounds());
    }

    /** Also called again on the same object after a transaction was aborted, so everything is made anew. */
    @Override
    public void init(ProcessorContext<byte[], Outgoing> processorContext) {
        context = processorContext;
        store = context.getStateStore(TaskStores.ROWS);
        parts.rows().open(partition(), store);
        commits = CommitTiming.of(context, store, () -> parts.occupancy().active(partition()));
        unit = new UnitOfWork(context, settings.topics(), store, this::readRowsAnew);
        outbox = new Outbox(
                new Sender(context, settings.topics(), unit), settings, parts.metrics(), parts.tracing(), commits);
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
        progress = new BackgroundProgress(settings.background().progressInterval());
        readRowsAnew();
        TopicPartition replyLane = new TopicPartition(settings.topics().lane(Segment.COGNITIVE), partition());
        inbox = parts.inbox()
                .open(
                        partition(),
                        polled -> polled.partition() == replyLane.partition()
                                && polled.topic().equals(replyLane.topic())
                                && replies.isTakenByHand(polled.headers()));
        restarted = settings.onRestart() == RestartPolicy.FAIL;
        schedules = new ScheduleClock(
                TaskStores.SCHEDULES.in(unit.rows()),
                parts.schedules(),
                new Intake.Home(settings, partition(), unit, outbox)::has,
                new ScheduleClock.Past(
                        key -> writer.task(key),
                        event -> seen.before(event, Instant.ofEpochMilli(context.currentSystemTimeMs()))
                                != SeenEvents.Before.NEVER),
                outbox);

        every(TICK, nowMs -> endedTasks.run(nowMs));
        every(TICK, nowMs -> oldSessions.run(nowMs));
        every(SWEEP_INTERVAL, nowMs -> forgetting.sweep(nowMs));
        if (progress.isWanted()) {
            moves.findProgress(Instant.ofEpochMilli(context.currentSystemTimeMs()));
            every(TICK, this::tellProgress);
        }
        every(SWEEP_INTERVAL, nowMs -> schedules.sweep(nowMs));
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
        Sessions sessions = new Sessions(rows);
        Timers timers =
                new Timers(TaskStores.TIMERS.in(rows), state -> parts.machine().wakeAt(state, watchedSinceMs));
        moves = new Moves(
                parts,
                settings.reflection(),
                writer,
                new Moves.Standing(
                        admission,
                        sessions,
                        timers,
                        new GivenEvents(TaskStores.GIVEN.in(rows), ruleRates),
                        new SessionTurns(sessions, parts.mapping()),
                        watchedSinceMs),
                progress);
        HeldEvents held = new HeldEvents(TaskStores.HELD.in(rows));
        processing = new Processing(
                TaskStores.PROCESSING.in(rows), parts.routing(), outbox, parts.metrics(), watchedSinceMs);
        forgetting = new TaskForgetting(
                new TaskForgetting.Known(TaskStores.FORGOTTEN.in(rows), tasks, cancels, held, processing),
                new TaskForgetting.Home(partition(), settings.partitions(), givenUp),
                moves,
                outbox);
        environment = new EnvironmentEvents(
                parts.rules(),
                ruleRates,
                (namespace, session) -> sessions.exists(namespace, session)
                        || admission.isBusy(StoredTask.conversation(namespace, session)),
                parts.sessions(),
                held);
        intake = new Intake(
                parts,
                new Intake.Home(settings, partition(), unit, outbox),
                new Intake.Remembered(seen, cancels, replies),
                new Intake.Machine(writer, moves, admission, forgetting, environment),
                processing);
        endedTasks = writer.sweep(settings.endedRetention(), sessions::refersTo);
        oldSessions = sessions.sweep(settings.sessionRetention());
    }

    private void tellProgress(long nowMs) {
        Instant now = Instant.ofEpochMilli(nowMs);
        moves.progress(now).forEach(event -> outbox.lane(event, now));
    }

    private void every(Duration interval, Punctuator work) {
        context.schedule(interval, PunctuationType.WALL_CLOCK_TIME, nowMs -> unit.attempt(() -> work.punctuate(nowMs)));
    }

    @Override
    public void close() {
        parts.rows().close(partition(), store);
        calls.close();
        inbox.close();
        commits.close();
        parts.occupancy().leave(partition());
    }

    /**
     * Before anything else: each task by itself that was under way when this process had the partition for the first
     * time. If the transaction in which they fail is aborted they are as they were, and fail after the next beginning.
     */
    private void failWhatWasUnderWay(Instant now) {
        if (restarted) {
            restarted = false;
            begun.computeIfAbsent(partition(), first -> moves.underWay())
                    .forEach((taskKey, lastEventId) -> unit.attempt(() -> {
                        moves.failRestarted(taskKey, lastEventId, now);
                        moves.settle();
                    }));
        }
    }

    private void tick(long nowMs) {
        Instant now = Instant.ofEpochMilli(nowMs);
        failWhatWasUnderWay(now);
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
        schedules.run(unit, nowMs);
        releaseHeld(nowMs);
        timeOutProcessors(now);
        tellOccupancy();
    }

    /** Does what follows from events after which it was quiet: each by itself, and one that breaks no more. */
    private void releaseHeld(long nowMs) {
        Instant now = Instant.ofEpochMilli(nowMs);
        for (String key : environment.due(nowMs, RELEASED_AT_ONCE)) {
            boolean broke = unit.attempt(
                            () -> environment.release(key, now).forEach(derived -> outbox.lane(derived, now)))
                    .isPresent();
            if (broke) {
                unit.attempt(() -> environment.discard(key));
            }
        }
    }

    /** Processors that are silent have failed; an event that breaks when it goes on is put aside. */
    private void timeOutProcessors(Instant now) {
        for (String key : processing.due(now.toEpochMilli(), RELEASED_AT_ONCE)) {
            String line = processing.line(key);
            boolean broke = unit.attempt(() -> {
                        processing.timeOut(key, now, intake);
                        moves.admit(now);
                    })
                    .isPresent();
            while (broke && line != null) {
                broke = unit.attempt(() -> processing.giveUp(line, now)).isEmpty()
                        && unit.attempt(() -> processing.goOn(line, now, intake))
                                .isPresent();
            }
        }
    }

    @Override
    public void process(Record<byte[], LaneDates.Dated> incoming) {
        long nowMs = context.currentSystemTimeMs();
        commits.taken(nowMs);
        failWhatWasUnderWay(Instant.ofEpochMilli(nowMs));
        if (OutstandingCalls.isFence(incoming.headers(), incoming.value().value())) {
            unit.attempt(() -> calls.passFence(incoming.headers()));
        } else if (!outbox.isFromLane(Segment.COGNITIVE) || !replies.isSecond(incoming.headers(), calls)) {
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
                commits.handed(nowMs);
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
            case OfLane(Record<byte[], LaneDates.Dated> incoming) -> intake.receive(incoming, now);
            case OfHand(Event reply) -> {
                intake.takeReply(reply, now);
                localCalls.settle(reply);
            }
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
                    case OfLane(Record<byte[], LaneDates.Dated> incoming) -> Intake.event(incoming);
                    case OfHand(Event handed) -> handed;
                };
        Event failure = FailedReplies.inPlaceOf(reply, why).orElse(null);
        if (failure != null) {
            intake.takeFailure(failure, receivedMs(arrival, now), now);
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
            case OfLane(Record<byte[], LaneDates.Dated> incoming) -> {
                outbox.deadLetter(incoming, why.reason(), why.detail());
                Instant now = Instant.ofEpochMilli(context.currentSystemTimeMs());
                intake.toParent(incoming, why).ifPresent(answer -> outbox.lane(answer, now));
            }
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

    private void tellOccupancy() {
        parts.occupancy()
                .set(
                        partition(),
                        new Occupancy.Counts(
                                admission.active(), admission.waiting(), admission.draining(), admission.drain()));
    }

    private int partition() {
        return context.taskId().partition();
    }
}
