package dev.millrace.agent.topology;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.core.Meta;
import dev.millrace.agent.core.TaskEvent;
import dev.millrace.agent.core.TaskState;
import dev.millrace.engine.Rehoming;
import dev.millrace.engine.RejectedRecordException;
import dev.millrace.engine.Sender;
import dev.millrace.engine.UnitOfWork;
import dev.millrace.engine.UnitOfWork.Undone;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Segment;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says what becomes of an event that has come: whether it is at home here, whether it was seen before, what it is to
 * the machine; and has it written. One for each life of the stores, for one stream thread.
 */
final class Intake implements Processing.Onward {

    private static final Logger LOGGER = LoggerFactory.getLogger(Intake.class);

    private final TaskTopology.Parts parts;
    private final Home home;
    private final Remembered remembered;
    private final Machine machine;
    private final Processing processing;
    private final ReplyTokens tokens;

    /** Where it is: the partition, and what is written there. */
    record Home(TaskShellSettings settings, int partition, UnitOfWork unit, Outbox outbox) {

        /** Whether what has this key belongs on this partition. */
        boolean has(String sessionKey) {
            return Rehoming.home(sessionKey, settings.partitions()) == partition;
        }
    }

    /** What came before. */
    record Remembered(SeenEvents seen, EarlyCancels cancels, TakenReplies replies) {}

    /** What is moved by what comes. */
    record Machine(
            MoveWriter writer,
            Moves moves,
            Admission admission,
            TaskForgetting forgetting,
            EnvironmentEvents environment) {}

    Intake(TaskTopology.Parts parts, Home home, Remembered remembered, Machine machine, Processing processing) {
        this.processing = processing;
        this.parts = parts;
        this.home = home;
        this.remembered = remembered;
        this.machine = machine;
        this.tokens = home.settings().replies().tokens();
    }

    /** Takes a record of a lane: here, or on the partition that it belongs on. */
    void receive(Record<byte[], LaneDates.Dated> incoming, Instant now)
            throws MalformedEventException, RejectedRecordException {
        home.outbox().requireBearable(incoming);
        Event event = event(incoming);
        home.outbox().taking(event.id(), incoming.value().timestampMs());
        if (isAheadOfItsTurn(event)) {
            home.outbox().toItsLane(event, now);
        } else if (Broadcast.isOne(event)) {
            takeBroadcast(incoming, event, now);
        } else if (isHome(event) || Broadcast.isSearch(incoming.headers(), event)) {
            take(incoming, event, now);
        } else {
            sendHome(incoming, event);
        }
    }

    /** The record as an event. */
    static Event event(Record<byte[], LaneDates.Dated> incoming) throws MalformedEventException {
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
        if (!copy && home.partition() != Broadcast.FIRST_PARTITION) {
            home.outbox().copy(incoming, Set.of(Broadcast.FIRST_PARTITION), Sender.REROUTED);
            return;
        }
        requireSchema(event);
        if (remembered.seen().before(event, now) == SeenEvents.Before.SEEN) {
            discarded(event, DiscardReason.DUPLICATE);
            return;
        }
        if (!hasExpired(event, now)) {
            if (!copy && home.settings().partitions() > 1) {
                home.outbox()
                        .copy(
                                incoming,
                                Broadcast.others(
                                        home.partition(), home.settings().partitions()),
                                Outbox.BROADCAST);
            }
            if (Broadcast.forgets(event)) {
                machine.forgetting()
                        .begin(
                                event,
                                home.partition() == Broadcast.FIRST_PARTITION,
                                incoming.value().timestampMs(),
                                now);
            } else {
                machine.admission().drain(Drain.of(event));
            }
        }
        if (home.partition() == Broadcast.FIRST_PARTITION && !Broadcast.forgets(event)) {
            record(event, now);
        }
        home.unit().whenKept(() -> remembered.seen().add(event, now));
    }

    private void take(Record<byte[], LaneDates.Dated> incoming, Event shown, Instant now)
            throws RejectedRecordException {
        requireSchema(shown);
        Event sent = tokens.believed(shown);
        requireOwnId(sent);
        boolean external = SeenEvents.isExternal(sent);
        SeenEvents.Before before = external ? remembered.seen().before(sent, now) : SeenEvents.Before.NEVER;
        if (before == SeenEvents.Before.SEEN) {
            discarded(sent, DiscardReason.DUPLICATE);
            return;
        }
        Event event = before == SeenEvents.Before.NEVER ? sent : withIdOfItsOwn(sent, incoming);
        long receivedMs = incoming.value().timestampMs();
        if (isForgotten(event, receivedMs, now)) {
            return;
        }
        if (hasExpired(event, now) && !startsTask(event)) {
            record(event, now);
        } else if (hasExpired(event, now)) {
            // a task that fails at once, so that whoever waits for it hears
            process(event, external, receivedMs, now);
        } else if (Broadcast.isSearch(incoming.headers(), event)) {
            machine.forgetting().begin(event, false, receivedMs, now);
        } else if (external && event.taskId() != null && !isHere(event.namespace(), event.taskId())) {
            if (!takeForAbsent(incoming, event, event.taskId(), now)) {
                return;
            }
        } else if (event.type() == KnownEventType.FORGET_REQUESTED) {
            machine.forgetting().begin(event, true, incoming.value().timestampMs(), now);
        } else {
            offer(event, external, receivedMs, now);
        }
        if (external) {
            home.unit().whenKept(() -> remembered.seen().add(sent, now));
        } else {
            home.unit().whenKept(() -> remembered.replies().taken(event.id()));
        }
    }

    /**
     * An event whose id another source has used: strangers number theirs as they like. What has a meaning to tasks
     * cannot be told apart then.
     */
    private Event withIdOfItsOwn(Event sent, Record<byte[], LaneDates.Dated> incoming) throws RejectedRecordException {
        if (!sent.type().isOpen()) {
            throw new RejectedRecordException(
                    ErrorCode.DUPLICATE_ID.code(),
                    "expected an id that is the sender's own, found one that another source has used: " + sent.id());
        }
        Event renamed = sent.withIdOfItsSource();
        home.outbox().taking(renamed.id(), incoming.value().timestampMs());
        return renamed;
    }

    /** Takes a reply of this process: as its schema has it, and on the partition of its task. */
    void takeReply(Event reply, Instant now) throws RejectedRecordException {
        if (!isForgotten(reply, now.toEpochMilli(), now)) {
            process(reply, false, now.toEpochMilli(), now);
        }
        home.unit().whenKept(() -> remembered.replies().taken(reply.id()));
    }

    /** Takes the failure that stands for a reply which cannot be taken; if it is not at home here, nothing happens. */
    void takeFailure(Event failure, long receivedMs, Instant now) throws RejectedRecordException {
        if (isHome(failure)) {
            process(failure, false, receivedMs, now);
        }
    }

    /** What the parent is told of a child that a record would have started which cannot be taken. */
    Optional<Event> toParent(Record<byte[], LaneDates.Dated> refused, Undone why) {
        try {
            Event start = event(refused);
            requireSchema(start);
            return FailedReplies.toParent(tokens.believed(start), String.valueOf(why.detail()));
        } catch (MalformedEventException | RejectedRecordException e) {
            return Optional.empty(); // nobody waits for it, or may be told so by whoever has sent it
        } catch (RuntimeException | StackOverflowError e) {
            return Optional.empty(); // this may be why it cannot be taken
        }
    }

    private boolean isForgotten(Event event, long receivedMs, Instant now) {
        boolean forgotten = machine.forgetting().covers(event, receivedMs, taskId -> isHere(event.namespace(), taskId));
        if (forgotten) {
            TaskForgetting.paidFor(event).ifPresent(paid -> home.outbox().journal(paid, now));
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
        Event named = event;
        if (event.sessionId() == null) {
            named = event.toBuilder()
                    .sessionId(parts.sessions()
                            .sessionOf(event.namespace(), taskId)
                            .orElse(null))
                    .build();
            if (!isHome(named)) {
                home.outbox().sendHome(incoming, named);
                return false;
            }
        }
        if (event.type() == KnownEventType.TASK_CANCEL_REQUESTED) {
            home.unit()
                    .whenKept(() -> remembered.cancels().add(Event.qualified(event.namespace(), taskId), event, now));
            home.outbox().journal(event, now, "early");
            parts.metrics().accepted(event.type());
        } else if (event.type() == KnownEventType.FORGET_REQUESTED) {
            machine.forgetting().begin(named, true, incoming.value().timestampMs(), now);
        } else {
            Event own = isForeign(event) ? event.withForeignSubject() : event;
            if (!isHome(own)) {
                home.outbox().sendHome(incoming, own);
                return false;
            }
            offer(own, true, incoming.value().timestampMs(), now);
        }
        return true;
    }

    /** Has processors look at an event, if there are any, before anything else is done with it. */
    private void offer(Event event, boolean external, long receivedMs, Instant now) throws RejectedRecordException {
        if (processing.concerns(event)) {
            processing.hold(event, receivedMs, external, now, this);
        } else {
            process(asAnswer(event), external, receivedMs, now);
        }
    }

    @Override
    public void deliver(Processing.Row row, Instant now) throws RejectedRecordException {
        Event event = row.event();
        if (isForgotten(event, row.receivedMs(), now)) {
            return;
        }
        if (hasExpired(event, now) && !startsTask(event)) {
            record(event, now);
        } else {
            try {
                process(asAnswer(event), row.external(), row.receivedMs(), now);
            } catch (RejectedRecordException e) {
                // it counted as taken when it was held
                home.unit().whenKept(() -> remembered.seen().remove(event, now));
                throw e;
            }
        }
    }

    @Override
    public void overwritten(Processing.Row row, String by, Instant now) throws RejectedRecordException {
        Event event = row.event();
        if (isForgotten(event, row.receivedMs(), now)) {
            return;
        }
        if (startsTask(event)) {
            Meta meta = new Meta(
                    Ids.hash(event.id() + "\noverwritten").substring(0, 32), event.id(), now, now.toEpochMilli());
            settle(
                    row,
                    now,
                    (move, start) -> move.overwrite(
                            start,
                            new TaskEvent.CancelRequested(meta, HeaderNames.OVERWRITTEN + " by processor " + by)));
        } else {
            home.outbox().journal(event, now, HeaderNames.OVERWRITTEN);
        }
    }

    @Override
    public void stopped(Processing.Row row, String why, Instant now) throws RejectedRecordException {
        Event event = row.event();
        if (isForgotten(event, row.receivedMs(), now)) {
            return;
        }
        if (startsTask(event)) {
            settle(row, now, (move, start) -> Moves.fail(move, start, ErrorCode.PROCESSOR_FAILED, why, now));
        } else if (event.type().isOpen()) {
            home.outbox().journal(event, now, ErrorCode.PROCESSOR_FAILED.code());
        } else {
            // somebody's words: they are not dropped without a trace
            throw new RejectedRecordException(ErrorCode.PROCESSOR_FAILED.code(), why);
        }
    }

    /** A task that ends as it begins, so that whoever waits for it hears. */
    private void settle(Processing.Row row, Instant now, BiConsumer<TaskMove, Event> end)
            throws RejectedRecordException {
        Decided decided = decide(row.event(), row.receivedMs(), now);
        if (decided != null && decided.move().discarded() == null) {
            if (!(decided.move().task().state() instanceof TaskState.Ended)) {
                end.accept(decided.move(), decided.event());
            }
            machine.moves().commit(decided.before(), decided.move(), decided.event(), now);
            parts.metrics().accepted(row.event().type());
        }
    }

    /**
     * Whether the task that an event names, and that is not here, is nothing of Millrace's: of a message it may be one
     * that has ended long ago, and then nobody is to take the answer to it for something new.
     */
    private static boolean isForeign(Event event) {
        boolean ofTheMachine = event.payload() instanceof Payload.BackgroundTaskEnded ended && ended.callId() != null;
        return (event.type().isOpen() && !ofTheMachine)
                || event.type() == KnownEventType.WEBHOOK_TRIGGERED
                || event.type() == KnownEventType.SCHEDULE_FIRED;
    }

    private boolean isHere(String namespace, String taskId) {
        return machine.writer().task(Event.qualified(namespace, taskId)) != null;
    }

    /** The next message of a session in which a task waits for an answer is that answer. */
    private Event asAnswer(Event event) {
        return event.payload() instanceof Payload.MessageReceived message
                        && message.observed() == null
                        && !isOfAgent(message)
                        && event.taskId() == null
                        && event.sessionId() != null
                ? machine.admission()
                        .answerable(StoredTask.conversation(event.namespace(), event.sessionId()))
                        .map(holder -> event.withTaskId(holder.taskId()))
                        .orElse(event)
                : event;
    }

    /** Words that one agent has for another are no answer to a question that was asked of people. */
    private static boolean isOfAgent(Payload.MessageReceived message) {
        return message.sender() != null
                && Payload.Sender.AGENT.equals(message.sender().type());
    }

    private void process(Event sent, boolean external, long receivedMs, Instant now) throws RejectedRecordException {
        Event event = sent;
        if (Processing.isAnswer(event)) {
            if (!processing.answered(event, now, this)) {
                discarded(event, DiscardReason.STALE_CALL);
            }
            return;
        }
        if (event.payload() instanceof Payload.MessageReceived message
                && event.taskId() == null
                && message.parent() == null
                && message.observed() == null
                && machine.environment().swallows(event)) {
            home.outbox().journal(event, now, "rule_disabled");
            return;
        }
        if (event.taskId() == null && isForNobody(event)) {
            home.outbox().journal(event, now, "not_routed");
            parts.metrics().accepted(event.type());
            return;
        }
        SessionTurns.Given given = given(event, receivedMs, now);
        if (given != null && given.first() == null) {
            home.outbox().journal(event, now, "not_routed");
            home.outbox().journal(given.turn(), now);
            parts.metrics().accepted(event.type());
            return;
        }
        event = given == null || given.first() == null ? event : given.first();
        Decided decided = decide(event, receivedMs, now);
        if (decided == null) {
            machine.moves().note(event, receivedMs, now);
            if (event.type().isOpen()) {
                follow(event, now);
            } else {
                record(event, now);
                if (!hasExpired(event, now)) {
                    home.outbox().toKnowledge(event, now);
                }
            }
            return;
        }
        TaskMove move = decided.move();
        if (move.discarded() == null) {
            machine.moves().commit(decided.before(), move, decided.event(), now);
            parts.metrics().accepted(event.type());
            if (given != null) {
                home.outbox().journal(given.turn(), now);
                given.others().forEach(other -> home.outbox().lane(other, now));
            }
        } else if (!move.toOthers().isEmpty()) {
            move.toOthers().forEach(answer -> home.outbox().lane(answer, now));
            discarded(event, move.discarded());
        } else if (LateReplies.isReply(event)) {
            LateReplies.abandoned(event, move.discarded())
                    .ifPresent(paidFor -> home.outbox().journal(paidFor, now));
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

    /** Who is given what people say in a session of several participants; {@code null} = it is not that. */
    private SessionTurns.@Nullable Given given(Event event, long receivedMs, Instant now) {
        return event.taskId() == null
                        && event.payload() instanceof Payload.MessageReceived message
                        && message.parent() == null
                        && message.observed() == null
                ? machine.moves().give(event, message, receivedMs, now)
                : null;
    }

    /** Whether a message is to be kept and shown, and no agent is given it. */
    private static boolean isForNobody(Event event) {
        return event.payload() instanceof Payload.MessageReceived message
                && message.parent() == null
                && message.metadata() != null
                && Boolean.TRUE.equals(message.metadata().get("skipRouting"));
    }

    /** What follows from an event, and from where. */
    private record Decided(StoredTask before, Event event, TaskMove move) {}

    /** Works out what follows; {@code null} = the event is for no task and is only recorded. Writes nothing. */
    private @Nullable Decided decide(Event event, long receivedMs, Instant now) throws RejectedRecordException {
        String taskId = EventMapping.taskIdOf(event);
        StoredTask row = taskId == null ? null : machine.writer().task(Event.qualified(event.namespace(), taskId));
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
                TaskMove move = machine.moves().of(before);
                if (row == null && forTask.event() instanceof TaskEvent.InputReceived) {
                    String unknown = parts.mapping().unknownAgent(event).orElse(null);
                    if (unknown != null && !move.refuse(adopted, unknown)) {
                        throw new RejectedRecordException(ErrorCode.UNKNOWN_AGENT.code(), "taskType: " + unknown);
                    }
                }
                if (move.discarded() == null) {
                    move.apply(adopted, machine.writer().withLastWords(before, forTask.event()));
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
        Event cancel = remembered.cancels().of(move.task().key(), now);
        if (cancel != null) {
            EventMapping.Mapped mapped = parts.mapping()
                    .ofTask(cancel, move.task().taskId(), move.task().agent(), now.toEpochMilli());
            if (mapped instanceof EventMapping.ForTask(TaskEvent cancelled)) {
                move.advance(move.task().adopt(cancel), cancelled);
            }
        } else if (move.task().state().wantsAdmission()) {
            machine.admission()
                    .turnsAway(move.task())
                    .ifPresent(why -> Moves.fail(move, start, ErrorCode.ADMISSION_REJECTED, why, now));
        }
    }

    /** What happens around the agents is noted, and given to one of them if a rule says so. */
    private void follow(Event event, Instant now) {
        EnvironmentEvents.Followed followed = machine.environment().follow(event, now);
        if (followed.outcome() == null) {
            home.outbox().journal(followed.noted(), now);
        } else {
            home.outbox().journal(followed.noted(), now, followed.outcome());
        }
        parts.metrics().accepted(event.type());
        followed.derived().forEach(derived -> home.outbox().lane(derived, now));
    }

    private static boolean startsTask(Event event) {
        return event.taskId() == null && event.payload() instanceof Payload.TaskInput;
    }

    private void record(Event event, Instant now) {
        if (hasExpired(event, now)) {
            home.outbox().journal(event, now, "expired");
        } else {
            home.outbox().journal(event, now);
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
        StoredTask row = machine.writer().task(Event.qualified(event.namespace(), event.id()));
        boolean another = row == null
                ? parts.sessions().isElsewhere(event.namespace(), event.id(), home.partition())
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
        return event.type().segment() != Segment.SYSTEM && home.outbox().isFromLane(Segment.SYSTEM);
    }

    private boolean isHome(Event event) {
        return home.has(event.sessionKey());
    }

    private void sendHome(Record<byte[], LaneDates.Dated> incoming, Event event) throws RejectedRecordException {
        if (incoming.headers().lastHeader(Sender.REROUTED) != null) {
            throw new RejectedRecordException(
                    "wrong_partition",
                    "expected on the partition of the key " + event.sessionKey() + ", found on " + home.partition()
                            + " after it had been sent there once");
        }
        home.outbox().sendHome(incoming, event.sessionKey());
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
}
