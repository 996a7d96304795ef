package dev.millrace.agent.topology;

import dev.millrace.agent.core.Meta;
import dev.millrace.agent.core.TaskError;
import dev.millrace.agent.core.TaskEvent;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.topology.AdmissionRow.Line;
import dev.millrace.engine.UnreadableRowException;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves tasks, one after the other and each whole before the next: that of an event, those whose turn it is then, and
 * those whose time has come. What goes wrong while one is worked out costs that task and no other. For one stream
 * thread.
 */
final class Moves {

    private static final Logger LOGGER = LoggerFactory.getLogger(Moves.class);

    /** What {@link #meta} is made of for a task whose turn has come. */
    static final String ADMITTED = "admitted";
    /** What {@link #meta} is made of for a task that is woken. */
    static final String TIME_PASSED = "time passed";

    /** How many tasks one record or tick may let in; what is left is let in at the next tick. */
    private static final int ADMISSIONS_AT_ONCE = 100;
    /** How many tasks one tick may wake, so that records do not wait for long behind many that are due together. */
    private static final int WAKINGS_AT_ONCE = 500;

    private final TaskTopology.Parts parts;
    private final boolean reflection;
    private final MoveWriter writer;
    private final Standing standing;
    private final BackgroundProgress progress;

    /**
     * What is known beside the rows of tasks.
     *
     * @param watchedSinceMs since when this instance has had the partition, in Unix milliseconds
     */
    record Standing(
            Admission admission,
            Sessions sessions,
            Timers timers,
            GivenEvents given,
            SessionTurns turns,
            long watchedSinceMs) {}

    Moves(
            TaskTopology.Parts parts,
            boolean reflection,
            MoveWriter writer,
            Standing standing,
            BackgroundProgress progress) {
        this.progress = progress;
        this.parts = parts;
        this.reflection = reflection;
        this.writer = writer;
        this.standing = standing;
    }

    /** A move of this task, with nothing in it yet. */
    TaskMove of(StoredTask before) {
        return new TaskMove(
                parts.machine(),
                parts.mapping()::agentFor,
                new TaskMove.Afterwards(reflection, parts.routing()::entityScope),
                before,
                seq -> writer.transcript(before.key(), seq));
    }

    /**
     * Lets a task end with an error, as part of a move.
     *
     * @param cause the event that led to it
     */
    static void fail(TaskMove move, Event cause, ErrorCode code, String message, Instant now) {
        Event failed = cause.derive(KnownEventType.TASK_FAILED, 0, now)
                .source("agent")
                .payload(new Payload.TaskFailed(message, code.code(), null, null))
                .build();
        Meta meta = new Meta(failed.id(), move.task().taskId(), now, now.toEpochMilli());
        move.apply(failed, new TaskEvent.FailureDeclared(meta, new TaskError(code.code(), message)));
    }

    /**
     * Writes a move that has been worked out.
     *
     * @param cause what moved the task
     */
    void commit(StoredTask before, TaskMove move, Event cause, Instant now) {
        StoredTask task = standing.timers().set(standing.admission().take(move.task(), cause));
        progress.note(task, now.toEpochMilli());
        move.toOthers().addAll(standing.given().take(before.state(), task, cause, now));
        SessionTurns.Given turn = standing.turns().follow(task, move.journal(), now);
        if (turn != null) {
            move.toOthers().addAll(turn.others());
            move.journal().add(turn.turn());
        }
        writer.write(standing.sessions().take(before.state(), task, move::entry, now.toEpochMilli()), move, now);
    }

    /** How a task is moved whose turn or time has come: each is tried when the one before broke. */
    enum Manner {
        /** As it would. */
        GO_ON,
        /** It fails. */
        FAIL,
        /** It is left as it is, and not tried again before something else happens to it. */
        LEAVE
    }

    /** Lets in whose turn it is. */
    void admit(Instant now) {
        for (int i = 0; i < ADMISSIONS_AT_ONCE && admitNext(now, Manner.GO_ON); i++) {
            // each is whole before the next
        }
        standing.admission().settle();
    }

    /** Writes down who has to wait: before what has moved so far is kept, if others are not let in with it. */
    void settle() {
        standing.admission().settle();
    }

    /**
     * Lets the next one in.
     *
     * @return false if it is nobody's turn
     */
    boolean admitNext(Instant now, Manner manner) {
        Admission admission = standing.admission();
        Optional<Line> next = admission.next();
        if (next.isEmpty()) {
            return false;
        }
        boolean overLimit = admission.isFull();
        admit(next.get(), now, manner);
        if (overLimit) {
            parts.metrics().admittedOverLimit();
            LOGGER.atWarn()
                    .addKeyValue("taskId", next.get().taskKey())
                    .addKeyValue("active", admission.active())
                    .log("A task was admitted although all places are taken");
        }
        return true;
    }

    private void admit(Line line, Instant now, Manner manner) {
        Admission admission = standing.admission();
        StoredTask before = writer.task(line.taskKey());
        Event cause = admission.cause(line);
        if (before == null || cause == null || manner == Manner.LEAVE) {
            admission.forget(line);
            return;
        }
        if (manner == Manner.FAIL) {
            failOrLeave(before, cause, now);
        } else {
            Meta meta = meta(before, cause, ADMITTED, now);
            moveOrFail(before, cause, now, move -> {
                if (parts.mapping().knows(before.agent())) {
                    move.advance(
                            cause,
                            new TaskEvent.Admitted(
                                    meta,
                                    standing.sessions().usage(before),
                                    standing.sessions().history(before)));
                } else {
                    fail(
                            move,
                            cause,
                            ErrorCode.UNKNOWN_AGENT,
                            "expected the agent that the task began with, found that "
                                    + before.agent().reference() + " is gone",
                            now);
                }
            });
        }
        // whoever does not take what it asked for must not be offered it for ever
        admission.forget(line);
    }

    /** Wakes tasks whose time has come. */
    void wake(Instant now) {
        wake(now, WAKINGS_AT_ONCE, Manner.GO_ON);
        admit(now);
    }

    /**
     * Wakes so many at most.
     *
     * @return false if there was none
     */
    boolean wake(Instant now, int atOnce, Manner manner) {
        List<String> due = standing.timers().due(now.toEpochMilli(), atOnce);
        for (String taskKey : due) {
            StoredTask row = writer.task(taskKey);
            if (row != null) {
                wake(row.waking(0), now, manner);
            }
        }
        return !due.isEmpty();
    }

    private void wake(StoredTask before, Instant now, Manner manner) {
        Event cause = before.lastEvent();
        switch (manner) {
            case GO_ON -> {
                Meta meta = meta(before, cause, TIME_PASSED, now);
                moveOrFail(
                        before,
                        cause,
                        now,
                        move -> move.advance(cause, new TaskEvent.TimePassed(meta, standing.watchedSinceMs())));
            }
            case FAIL -> failOrLeave(before, cause, now);
            case LEAVE -> writer.keep(before);
        }
    }

    /** The tasks that work, or wait for what they have asked for: their keys, with their last events. */
    Map<String, String> underWay() {
        Map<String, String> underWay = new LinkedHashMap<>();
        for (String key : standing.timers().all()) {
            StoredTask task = writer.task(key);
            if (task != null && task.state() instanceof TaskState.Active) {
                underWay.put(key, String.valueOf(task.lastEventId()));
            }
        }
        return underWay;
    }

    /**
     * Ends a task that was under way when the process ended, if nothing has happened to it since.
     *
     * @param lastEventId as {@link #underWay} has told it
     */
    void failRestarted(String taskKey, String lastEventId, Instant now) {
        StoredTask before = writer.task(taskKey);
        if (before != null
                && before.state() instanceof TaskState.Active
                && String.valueOf(before.lastEventId()).equals(lastEventId)) {
            Event cause = before.lastEvent();
            moveOrFail(
                    before,
                    cause,
                    now,
                    move -> fail(move, cause, ErrorCode.PROCESS_RESTARTED, "process restarted, task cancelled", now));
        }
    }

    /** Finds out whose progress is to be told, among the tasks that are there. */
    void findProgress(Instant now) {
        for (String key : standing.timers().all()) {
            StoredTask task = writer.task(key);
            if (task != null) {
                progress.note(task, now.toEpochMilli());
            }
        }
    }

    /** Events that tell how far tasks in the background are, as often as they are to be told. */
    List<Event> progress(Instant now) {
        return progress.due(now, writer::task);
    }

    /** Whether a task has ended, and takes no more than new input. */
    static boolean hasEnded(StoredTask task) {
        return task.state() instanceof TaskState.Completed || task.state() instanceof TaskState.Ended;
    }

    /**
     * Removes what is known of a task. One that has not ended is cancelled first, so that whoever waits for it hears of
     * it; the tasks that it has started are the caller's to forget.
     *
     * @param request the event that wants it
     * @param withSession whether its session is forgotten as well, see {@link #forgetSessions}; else the session stays,
     *     with a hole in its history
     * @return whether it had to be cancelled
     */
    boolean forget(StoredTask before, Event request, boolean withSession, Instant now) {
        Event cause = before.adopt(request);
        boolean running = !hasEnded(before);
        if (running) {
            Meta meta = meta(before, cause, "forgotten " + before.key(), now);
            moveOrFail(before, cause, now, move -> {
                move.advance(cause, new TaskEvent.CancelRequested(meta, "it is to be forgotten"));
                move.spareChildren();
            });
        }
        StoredTask row = writer.task(before.key());
        StoredTask last = row == null ? before : row;
        // leaves the line, its place and its wake-up
        standing.timers().set(standing.admission().take(last.with(TaskState.ABSENT, now.toEpochMilli()), cause));
        if (!withSession) {
            standing.sessions().forget(last);
        }
        writer.remove(last, now);
        return running;
    }

    /** Takes note of what people say of their sessions: that there is one, and what it is called. */
    void note(Event event, long receivedMs, Instant now) {
        String type = event.type().wireName();
        String sessionId = event.sessionId();
        if (sessionId != null && (type.equals("session.created") || type.equals("session.updated"))) {
            standing.sessions().note(event.namespace(), sessionId, event.text("title"), receivedMs, now.toEpochMilli());
            List<String> participants = Participants.said(event);
            if (!participants.isEmpty()) {
                standing.sessions().join(event.namespace(), sessionId, participants, receivedMs, now.toEpochMilli());
            }
        }
    }

    /** Who of the participants of its session is given a message; see {@link SessionTurns#give}. */
    SessionTurns.@Nullable Given give(Event event, Payload.MessageReceived message, long receivedMs, Instant now) {
        standing.turns().note(event, message, receivedMs, now);
        return standing.turns().give(event, message, now);
    }

    /** Whether there is this session here: somebody has made it, or a task has begun in it. */
    boolean knowsSession(String namespace, String sessionId) {
        return standing.sessions().exists(namespace, sessionId);
    }

    /** Removes some sessions with their histories; see {@link Sessions#forget(ForgetScope, String, long)}. */
    @Nullable
    String forgetSessions(ForgetScope scope, String from, long untilMs) {
        return standing.sessions().forget(scope, from, untilMs);
    }

    /** Whether there is a transcript of a task whose row is gone. */
    boolean outlivesItsRow(String taskKey) {
        return standing.sessions().outlivesItsRow(taskKey);
    }

    /** Forgets such a task; see {@link Sessions#forgetOutliving}. */
    @Nullable
    String forgetOutliving(String namespace, String taskId, @Nullable String sessionId, String from) {
        String conversation = sessionId == null ? null : StoredTask.conversation(namespace, sessionId);
        return standing.sessions().forgetOutliving(namespace, taskId, conversation, from);
    }

    private void moveOrFail(StoredTask before, Event cause, Instant now, Consumer<TaskMove> work) {
        Optional<TaskMove> move = workOut(before, cause, work);
        if (move.isPresent()) {
            commitOrKeep(before, move.get(), cause, now);
        } else {
            failOrLeave(before, cause, now);
        }
    }

    private void failOrLeave(StoredTask before, Event cause, Instant now) {
        Optional<TaskMove> move = workOut(
                before,
                cause,
                failing -> fail(failing, cause, ErrorCode.INTERNAL_ERROR, "a defect; the log tells more", now));
        if (move.isPresent()) {
            commitOrKeep(before, move.get(), cause, now);
        } else {
            writer.keep(before);
        }
    }

    private void commitOrKeep(StoredTask before, TaskMove move, Event cause, Instant now) {
        if (move.discarded() == null) {
            commit(before, move, cause, now);
        } else {
            writer.keep(standing.timers().set(before));
        }
    }

    /** A move that is ready to be written; empty if a defect kept it from being worked out. */
    private Optional<TaskMove> workOut(StoredTask before, Event cause, Consumer<TaskMove> work) {
        TaskMove move = of(before);
        try {
            work.accept(move);
            return Optional.of(move);
        } catch (KafkaException | UnreadableRowException e) {
            throw e;
        } catch (RuntimeException e) {
            LOGGER.atError()
                    .addKeyValue("taskId", before.key())
                    .addKeyValue("eventId", cause.id())
                    .setCause(e)
                    .log("A defect kept a task from going on");
            return Optional.empty();
        }
    }

    /**
     * The identity of something that is no event on any lane: the same on every replay, and another for each cause.
     *
     * @param what happens, such as {@link #ADMITTED}
     */
    static Meta meta(StoredTask task, Event cause, String what, Instant now) {
        return new Meta(Ids.hash(cause.id() + '\n' + what).substring(0, 32), task.taskId(), now, now.toEpochMilli());
    }
}
