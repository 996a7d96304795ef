package dev.millrace.agent.topology;

import dev.millrace.agent.core.Children;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.ToolCall;
import dev.millrace.agent.core.Usage;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who waits for a task: the row of a child keeps it, and its answer goes there.
 *
 * @param taskId the task that started it
 * @param sessionId the conversation of that one; {@code null} = it is one of its own
 * @param callId the tool call that started it, or let it go on
 * @param background whether that task goes on meanwhile
 * @param reported what the child had used when it last answered
 * @param errand how it works apart; {@code null} = as a part of that task
 */
public record Parentage(
        String taskId,
        @Nullable String sessionId,
        String callId,
        boolean background,
        Usage reported,
        Payload.@Nullable Errand errand) {

    /** Of a child that does a part of the work. */
    public Parentage(String taskId, @Nullable String sessionId, String callId, boolean background, Usage reported) {
        this(taskId, sessionId, callId, background, reported, null);
    }

    /**
     * What the event says of a parent; {@code null} = it says nothing, or what no machine has written: the id of such
     * an event follows from the call, which nobody knows before it is made.
     */
    static @Nullable Parentage of(Event event, Usage reported) {
        Payload.Parent parent = parent(event);
        return parent == null || !event.id().equals(Children.idOf(parent.callId()))
                ? null
                : new Parentage(
                        parent.taskId(),
                        parent.sessionId(),
                        parent.callId(),
                        Boolean.TRUE.equals(parent.background()),
                        reported,
                        parent.errand());
    }

    private static Payload.@Nullable Parent parent(Event event) {
        return switch (event.payload()) {
            case Payload.TaskInput input -> input.parent();
            case Payload.TaskResumed resumed -> resumed.parent();
            default -> null;
        };
    }

    /** The same for a parent that waits for the answer. */
    Parentage inForeground() {
        return new Parentage(taskId, sessionId, callId, false, reported, errand);
    }

    /** Whether it speaks for the parent of this task. */
    boolean isOf(StoredTask child) {
        return child.parent() != null && child.parent().taskId().equals(taskId);
    }

    /**
     * References of the agents that bind the child whose start an event is, the nearest first; empty = it is no child.
     */
    static List<String> agents(Event event) {
        Payload.Parent parent = parent(event);
        return parent == null || of(event, Usage.NONE) == null ? List.of() : parent.agents();
    }

    /** The limits that the event names for a child. */
    static TaskLimits limits(Event event) {
        Payload.Parent parent = parent(event);
        TaskLimits none = TaskLimits.UNLIMITED;
        return parent == null
                ? none
                : new TaskLimits(
                        none.maxIterations(),
                        none.maxToolCallsPerStep(),
                        none.maxTranscriptChars(),
                        limit(parent.maxTokens()),
                        limit(parent.maxCostMicros()),
                        limit(parent.maxLifeTimeMs()),
                        none.maxCausalDepth());
    }

    private static long limit(@Nullable Long value) {
        return value != null && value > 0 ? value : TaskLimits.NONE;
    }

    /** What a child of this task is told of its parent. */
    static Payload.Parent told(
            StoredTask parent, String callId, boolean background, TaskLimits limits, ToolCall.@Nullable Errand errand) {
        return new Payload.Parent(
                parent.taskId(),
                parent.sessionId(),
                callId,
                background,
                parent.agent().binding(),
                StateReport.limit(limits.maxTokens()),
                StateReport.limit(limits.maxCostMicros()),
                StateReport.limit(limits.maxLifeTimeMs()),
                errand == null ? null : new Payload.Errand(errand.description(), errand.forgotten()));
    }
}
