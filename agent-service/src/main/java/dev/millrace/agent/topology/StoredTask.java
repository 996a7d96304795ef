package dev.millrace.agent.topology;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.Usage;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The row of a task: who it is, and its state.
 *
 * @param namespace the tenant
 * @param taskId unique within the namespace
 * @param sessionId the conversation; {@code null} = the task is one of its own
 * @param correlationId id of the root event of the chain that started it
 * @param callbackUrl where the owner wants to be told what becomes of it; {@code null} = nowhere
 * @param parent who waits for it; {@code null} = nobody
 * @param lastEventId id of the last event of the task in the journal: the parent of what follows because time passed;
 *     {@code null} = none yet
 * @param arrival its number in the line for admission, which it keeps; 0 = it has never stood there
 * @param wakeAtMs the time of its wake-up in the store of timers, in Unix milliseconds; 0 = there is none
 * @param updatedAtMs when the row was last written, by the clock of the instance that did, in Unix milliseconds
 * @param agent who works on it, and stays
 * @param state what the machine decided
 * @param lineage when it began, and what it has begun
 */
public record StoredTask(
        String namespace,
        String taskId,
        @Nullable String sessionId,
        String correlationId,
        @Nullable String callbackUrl,
        @Nullable Parentage parent,
        @Nullable String lastEventId,
        long arrival,
        long wakeAtMs,
        long updatedAtMs,
        AgentPin agent,
        TaskState state,
        Lineage lineage) {

    /**
     * What of a task has to be known to forget it.
     *
     * @param createdAtMs when what began it came onto its lane, in Unix milliseconds; 0 = not known. Rows of before
     *     ADR 0024 have what the sender said
     * @param children ids of all tasks that it has ever started
     * @param told how many entries of its transcript its session's history refers to, from the beginning; 0 = none
     * @param toldAt position in that history of the first of them
     * @param heard whether its input stood in that history before, as the words of another participant
     */
    public record Lineage(long createdAtMs, List<String> children, int told, int toldAt, boolean heard) {

        /** Of a row that was stored before there was one. */
        static final Lineage UNKNOWN = new Lineage(0, List.of());

        /** Of a task that has told its session nothing. */
        public Lineage(long createdAtMs, List<String> children) {
            this(createdAtMs, children, 0, 0, false);
        }

        public Lineage {
            children = List.copyOf(children);
        }

        Lineage with(String child) {
            return new Lineage(
                    createdAtMs,
                    Stream.concat(children.stream(), Stream.of(child)).toList(),
                    told,
                    toldAt,
                    heard);
        }
    }

    // what was stored before there was a lineage has none
    public StoredTask(
            String namespace,
            String taskId,
            @Nullable String sessionId,
            String correlationId,
            @Nullable String callbackUrl,
            @Nullable Parentage parent,
            @Nullable String lastEventId,
            long arrival,
            long wakeAtMs,
            long updatedAtMs,
            AgentPin agent,
            TaskState state,
            @Nullable Lineage lineage) {
        this.namespace = namespace;
        this.taskId = taskId;
        this.sessionId = sessionId;
        this.correlationId = correlationId;
        this.callbackUrl = callbackUrl;
        this.parent = parent;
        this.lastEventId = lastEventId;
        this.arrival = arrival;
        this.wakeAtMs = wakeAtMs;
        this.updatedAtMs = updatedAtMs;
        this.agent = agent;
        this.state = state;
        this.lineage = lineage == null ? Lineage.UNKNOWN : lineage;
    }

    /** What the keys of sessions begin with. */
    static final String SESSION = "session ";

    private static final EventType TIME = EventType.of("time.passed");

    static StoredTask absent(Event first, String taskId, long receivedMs) {
        return new StoredTask(
                first.namespace(),
                taskId,
                first.sessionId(),
                first.correlationId(),
                first.payload() instanceof Payload.TaskInput input ? input.callbackUrl() : null,
                Parentage.of(first, Usage.NONE),
                null,
                0,
                0,
                0,
                AgentPin.NONE,
                TaskState.ABSENT,
                new Lineage(receivedMs, List.of(), 0, 0, isHeard(first)));
    }

    private static boolean isHeard(Event first) {
        return first.payload() instanceof Payload.MessageReceived message
                && message.thread() != null
                && message.thread().spokenIn() != null;
    }

    StoredTask with(TaskState next, long nowMs) {
        return copy(lastEventId, arrival, wakeAtMs, nowMs, next);
    }

    StoredTask journalled(String eventId) {
        return copy(eventId, arrival, wakeAtMs, updatedAtMs, state);
    }

    StoredTask arrived(long number) {
        return copy(lastEventId, number, wakeAtMs, updatedAtMs, state);
    }

    StoredTask waking(long atMs) {
        return copy(lastEventId, arrival, atMs, updatedAtMs, state);
    }

    /** The same with the agent that the task begins with. */
    StoredTask pinnedTo(AgentPin pin) {
        return new StoredTask(
                namespace,
                taskId,
                sessionId,
                correlationId,
                callbackUrl,
                parent,
                lastEventId,
                arrival,
                wakeAtMs,
                updatedAtMs,
                pin,
                state,
                lineage);
    }

    private StoredTask copy(@Nullable String lastId, long number, long wakeMs, long nowMs, TaskState next) {
        return new StoredTask(
                namespace,
                taskId,
                sessionId,
                correlationId,
                callbackUrl,
                parent,
                lastId,
                number,
                wakeMs,
                nowMs,
                agent,
                next,
                lineage);
    }

    /** The same, and this one waits for it now. */
    StoredTask of(Parentage now) {
        return new StoredTask(
                namespace,
                taskId,
                sessionId,
                correlationId,
                callbackUrl,
                now,
                lastEventId,
                arrival,
                wakeAtMs,
                updatedAtMs,
                agent,
                state,
                lineage);
    }

    /** The same, which has started this task. */
    StoredTask starting(String childId) {
        return with(lineage.with(childId));
    }

    /** The same, of which so much is part of its session's history, from this position on. */
    StoredTask told(int entries, int position) {
        return with(new Lineage(lineage.createdAtMs(), lineage.children(), entries, position, lineage.heard()));
    }

    private StoredTask with(Lineage now) {
        return new StoredTask(
                namespace,
                taskId,
                sessionId,
                correlationId,
                callbackUrl,
                parent,
                lastEventId,
                arrival,
                wakeAtMs,
                updatedAtMs,
                agent,
                state,
                now);
    }

    /**
     * The event with the task's own identity, so that what follows from it stays on the task's partition and has its
     * depth.
     */
    Event adopt(Event event) {
        Event.Builder adopted = event.toBuilder().taskId(taskId).sessionId(sessionId);
        if (state instanceof TaskState.Existing existing) {
            adopted.causalDepth(existing.context().causalDepth());
        }
        return adopted.build();
    }

    /**
     * Stands for the last event of the task, where that is the cause of what follows because time has passed or because
     * of a defect. Has its identity and nothing of its contents.
     */
    Event lastEvent() {
        return adopt(
                Event.root(lastEventId == null ? correlationId : lastEventId, TIME, Instant.ofEpochMilli(updatedAtMs))
                        .namespace(namespace)
                        .correlationId(correlationId)
                        .build());
    }

    /** What the task has used. */
    Usage usage() {
        return state instanceof TaskState.Existing existing ? existing.context().usage() : Usage.NONE;
    }

    /** The key of the row, and the first part of its transcript's keys. */
    String key() {
        return Event.qualified(namespace, taskId);
    }

    /** What it is part of, one task at a time: its session, or itself if it has none. */
    String conversation() {
        return sessionId == null ? "task " + key() : conversation(namespace, sessionId);
    }

    /** The conversation that a session is. */
    static String conversation(String namespace, String sessionId) {
        return SESSION + Event.qualified(namespace, sessionId);
    }
}
