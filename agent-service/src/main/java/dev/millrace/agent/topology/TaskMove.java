package dev.millrace.agent.topology;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.AgentPin;
import dev.millrace.agent.KnowledgeUse;
import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.core.Effect;
import dev.millrace.agent.core.Fact;
import dev.millrace.agent.core.Meta;
import dev.millrace.agent.core.ReflectionRule;
import dev.millrace.agent.core.TaskContext;
import dev.millrace.agent.core.TaskEvent;
import dev.millrace.agent.core.TaskFsm;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.core.Transition;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Notification;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Topics;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Everything that one event from a lane leads to, worked out before any of it is written: the event itself, and the
 * follow-ups that the machine takes in the same transaction. If this throws, nothing has happened yet.
 */
final class TaskMove {

    /** A request for a worker: the event, and the topic and key that it goes out with. */
    record Request(String toolset, String key, Event event) {}

    /** Says which agent a task begins with. */
    interface Pinning {
        /**
         * The agent for the task that this event starts.
         *
         * @param nowMs the clock, in Unix milliseconds
         */
        AgentPin agentFor(Event start, long nowMs);
    }

    /**
     * What a completed task leads to beside its result.
     *
     * @param reflects whether REFLECTION_REQUESTED is sent, if it is worth it
     * @param entities where the entities of a task of this agent are kept; empty = ENTITY_EXTRACT is not sent
     */
    record Afterwards(boolean reflects, Function<AgentPin, Optional<KnowledgeUse.EntityScope>> entities) {}

    private final TaskFsm machine;
    private final Pinning pinning;
    private final IntFunction<@Nullable TranscriptEntry> storedTranscript;
    private final Afterwards afterwards;

    private final List<Event> journal = new ArrayList<>();
    private final List<Request> requests = new ArrayList<>();
    private final List<Event> toOthers = new ArrayList<>();
    private final TreeMap<Integer, TranscriptEntry> appended = new TreeMap<>();
    private final Map<String, OutstandingCall> called = new LinkedHashMap<>();
    private final List<String> settled = new ArrayList<>();
    private StoredTask task;
    private @Nullable DiscardReason discarded;
    private @Nullable String overwrittenId;

    TaskMove(
            TaskFsm machine,
            Pinning pinning,
            Afterwards afterwards,
            StoredTask before,
            IntFunction<@Nullable TranscriptEntry> storedTranscript) {
        this.machine = machine;
        this.pinning = pinning;
        this.afterwards = afterwards;
        this.task = before;
        this.storedTranscript = storedTranscript;
    }

    /** Applies an event from a lane and its follow-ups. */
    void apply(Event event, TaskEvent first) {
        if (task.state() instanceof TaskState.Absent && first instanceof TaskEvent.InputReceived) {
            task = task.pinnedTo(pinning.agentFor(event, first.meta().nowMs()));
        }
        Parentage caller = first instanceof TaskEvent.TaskResumed ? Parentage.of(event, task.usage()) : null;
        if (caller == null) {
            take(event, first, true);
        } else if (!(task.state() instanceof TaskState.Completed) || !caller.isOf(task)) {
            // its parent waits for an answer, and there will be no other
            discarded =
                    task.state() instanceof TaskState.Absent ? DiscardReason.UNKNOWN_TASK : DiscardReason.NOT_WAITING;
            toOthers.add(new TaskRecords(
                            event, event.id(), Instant.ofEpochMilli(first.meta().nowMs()))
                    .notResumed(caller, task));
        } else {
            task = task.of(caller);
            take(event, first, true);
        }
    }

    /**
     * Does not start a task; a parent that would wait for it is told so.
     *
     * @return false if nobody waits for it
     */
    boolean refuse(Event start, String why) {
        Parentage parent = task.parent();
        if (parent == null) {
            return false;
        }
        discarded = DiscardReason.UNKNOWN_TASK;
        toOthers.add(new TaskRecords(start).notStarted(parent, task, why));
        return true;
    }

    /**
     * Applies something that is no event on any lane and not journalled itself: admission, or that time has passed. May
     * follow on {@link #apply} or stand alone.
     *
     * @param cause the parent of what follows: the event that asked for admission, or the last one of the task
     * @param internal its {@link dev.millrace.agent.core.Meta#eventId} is new for each, since ids are derived from it
     */
    void advance(Event cause, TaskEvent internal) {
        take(cause, internal, false);
    }

    /** The event that starts the task has come to nothing: others take its place, and listeners are not shown it. */
    void overwrite(Event start, TaskEvent.CancelRequested cancel) {
        overwrittenId = start.id();
        advance(start, cancel);
    }

    /** What became of an event of {@link #journal}; {@code null} = what is usual. */
    @Nullable
    String outcome(Event event) {
        return event.id().equals(overwrittenId) ? HeaderNames.OVERWRITTEN : null;
    }

    private void take(Event event, TaskEvent first, boolean journalled) {
        Deque<Consequence> consequences = new ArrayDeque<>();
        take(event, first, journalled, consequences);
        while (!consequences.isEmpty()) {
            Consequence next = consequences.removeFirst();
            take(next.event(), next.taskEvent(), true, consequences);
        }
    }

    /** What the machine itself made true and takes notice of: as it is told, and as it is taken. */
    private record Consequence(Event event, TaskEvent taskEvent) {}

    /** An entry of the transcript as it is afterwards; {@code null} = there is none. */
    @Nullable
    TranscriptEntry entry(int seq) {
        TranscriptEntry entry = appended.get(seq);
        return entry == null ? storedTranscript.apply(seq) : entry;
    }

    /** The row afterwards. */
    StoredTask task() {
        return task;
    }

    /** Why the event changed nothing; {@code null} = it did. */
    @Nullable
    DiscardReason discarded() {
        return discarded;
    }

    /** What goes into the journal, in order; empty if the event was discarded. */
    List<Event> journal() {
        return journal;
    }

    /** What goes to workers. */
    List<Request> requests() {
        return requests;
    }

    /** Events for other tasks, which go on the lanes. Also of an event that was discarded. */
    List<Event> toOthers() {
        return toOthers;
    }

    /** Sends no cancel to the tasks that this one has started: whoever removes it sees to them. */
    void spareChildren() {
        toOthers.removeIf(event -> event.type() == KnownEventType.TASK_CANCEL_REQUESTED);
    }

    /** New transcript entries by position. */
    Map<Integer, TranscriptEntry> appended() {
        return appended;
    }

    /** Model calls to make, by call id. */
    Map<String, OutstandingCall> called() {
        return called;
    }

    /** Ids of model calls that nobody waits for any more. */
    List<String> settled() {
        return settled;
    }

    private void take(Event event, TaskEvent taskEvent, boolean journalled, Deque<Consequence> consequences) {
        TaskState before = task.state();
        Transition transition = machine.transition(before, taskEvent);
        if (transition.effects().stream().findFirst().orElse(null) instanceof Effect.Discard discard) {
            if (journal.isEmpty()) {
                discarded = discard.reason();
            }
            return;
        }
        long nowMs = taskEvent.meta().nowMs();
        TaskRecords records = new TaskRecords(
                event, journalled ? event.id() : taskEvent.meta().eventId(), Instant.ofEpochMilli(nowMs));
        task = task.with(transition.next(), nowMs);
        if (journalled) {
            record(event);
        }
        TaskState.Existing next = (TaskState.Existing) transition.next();
        if (before instanceof TaskState.Existing && StateReport.differs(before, next)) {
            record(records.moved(before, next));
        }
        TaskContext context = next.context();
        for (Effect effect : transition.effects()) {
            carryOut(effect, event, records, context, consequences, nowMs);
        }
    }

    private void carryOut(
            Effect effect,
            Event cause,
            TaskRecords records,
            TaskContext context,
            Deque<Consequence> consequences,
            long nowMs) {
        switch (effect) {
            case Effect.Append append -> {
                for (int i = 0; i < append.entries().size(); i++) {
                    appended.put(append.seq() + i, append.entries().get(i));
                }
            }
            case Effect.CallModel call -> {
                record(records.requested(call));
                called.put(
                        call.callId(),
                        outstanding(
                                call.callId(),
                                call.iteration(),
                                cause,
                                context.priority(),
                                context.transcriptLength(),
                                OutstandingCall.Shown.of(context.window(), false),
                                nowMs));
            }
            case Effect.Summarise call -> {
                record(records.requested(call));
                called.put(
                        call.callId(),
                        outstanding(
                                call.callId(),
                                call.iteration(),
                                cause,
                                context.priority(),
                                call.before(),
                                OutstandingCall.Shown.of(context.window(), true),
                                nowMs));
            }
            case Effect.SettleModelCall settle -> {
                if (called.remove(settle.callId()) == null) {
                    settled.add(settle.callId());
                }
            }
            case Effect.CallTool call -> {
                Event request = records.requested(call, context);
                record(request);
                // memory has one writer per namespace
                String key = call.toolset().equals(Topics.MEMORY_TOOLSET) ? request.namespace() : call.callId();
                requests.add(new Request(call.toolset(), key, request));
            }
            case Effect.StartChild child -> {
                toOthers.add(records.start(child, task, context));
                task = task.starting(child.childId());
            }
            case Effect.ResumeChild child -> toOthers.add(records.resume(child, task));
            case Effect.CancelChild child -> toOthers.add(records.cancel(child));
            case Effect.Publish(Fact fact) -> publish(fact, records, context);
            case Effect.FollowUp(Fact.Consequence fact) -> {
                Event event = records.of(fact, context, task.agent(), this::userText);
                Meta meta = new Meta(event.id(), task.taskId(), event.timestamp(), nowMs);
                consequences.add(new Consequence(event, fact.event(meta)));
            }
            case Effect.RequestAdmission request -> {} // the state says it, and the shell reads it there
            case Effect.Discard discard -> throw new IllegalStateException("a discard beside other effects");
        }
    }

    private void publish(Fact fact, TaskRecords records, TaskContext context) {
        Event event = records.of(fact, context, task.agent(), this::userText);
        record(event);
        if (fact instanceof Fact.Completed completed
                && event.payload() instanceof Payload.TaskCompleted(Payload.Result result, Payload.Usage ignored)) {
            if (afterwards.reflects()
                    && ReflectionRule.isWorthwhile(
                            completed.iterations(),
                            completed.actionsCount(),
                            Json.writeText(result).length())) {
                Event reflection = new TaskRecords(event)
                        .reflectionOn(
                                result,
                                completed.actionsCount(),
                                TaskStory.of(completed.inputSeq() + 1, context.transcriptLength() - 1, this::entry));
                record(reflection);
                requests.add(new Request("reflection", event.namespace(), reflection));
            }
            afterwards.entities().apply(task.agent()).ifPresent(scope -> {
                Event extraction = new TaskRecords(event)
                        .extractionOf(
                                result,
                                scope,
                                AgentDefinition.nameIn(task.agent().reference()));
                record(extraction);
                requests.add(new Request(Topics.KNOWLEDGE_TOOLSET, event.sessionKey(), extraction));
            });
        }
    }

    private OutstandingCall outstanding(
            String callId,
            int iteration,
            Event cause,
            int priority,
            int before,
            OutstandingCall.Shown shown,
            long nowMs) {
        return new OutstandingCall(
                callId,
                task.namespace(),
                task.taskId(),
                task.sessionId(),
                cause.correlationId(),
                cause.id(),
                cause.traceparent(),
                task.agent(),
                priority,
                iteration,
                before,
                shown,
                nowMs,
                0);
    }

    private void record(Event event) {
        journal.add(event);
        task = task.journalled(event.id());
        answerParent(event);
        String callbackUrl = task.callbackUrl();
        if (callbackUrl != null) {
            Notification.of(event)
                    .ifPresent(news -> notifyOwner(new TaskRecords(event).notification(news, callbackUrl)));
        }
    }

    /** What the parent of a child that has ended waits for. */
    private void answerParent(Event event) {
        Parentage parent = task.parent();
        boolean ended = event.type() == KnownEventType.TASK_COMPLETED
                || event.type() == KnownEventType.TASK_FAILED
                || event.type() == KnownEventType.TASK_CANCELLED;
        if (parent != null && ended) {
            toOthers.add(new TaskRecords(event).answer(parent, task));
            if (parent.errand() != null && parent.errand().leavesNothing()) {
                toOthers.add(new TaskRecords(event).forget(task));
            }
        }
    }

    private void notifyOwner(Event notification) {
        record(notification);
        requests.add(new Request("webhook", task.taskId(), notification));
    }

    private String userText(int seq) {
        return entry(seq) instanceof TranscriptEntry.UserText said ? said.text() : "";
    }
}
