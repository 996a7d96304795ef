package dev.millrace.agent.topology;

import dev.millrace.agent.core.Children;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.Usage;
import dev.millrace.schemas.Event;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who waits for a task: the row of a child keeps it, and its answer goes there.
 *
 * @param taskId the task that started it
 * @param sessionId the conversation of that one; {@code null} = it is one of its own
 * @param callId the tool call that started it, or let it go on
 * @param background whether that task goes on meanwhile
 * @param reported what the child had used when it last answered
 */
public record Parentage(String taskId, @Nullable String sessionId, String callId, boolean background, Usage reported) {

    /** In the payload of the event that starts a child, or lets it go on. */
    static final String FIELD = "parent";

    /**
     * What the event says of a parent; {@code null} = it says nothing, or what no machine has written: the id of such an event
     * follows from the call, which nobody knows before it is made.
     */
    static @Nullable Parentage of(Event event, Usage reported) {
        if (!(event.payload().get(FIELD) instanceof Map<?, ?> parent)
                || !(parent.get("taskId") instanceof String taskId)
                || !(parent.get("callId") instanceof String callId)
                || !event.id().equals(Children.idOf(callId))) {
            return null;
        }
        return new Parentage(
                taskId,
                parent.get("sessionId") instanceof String sessionId ? sessionId : null,
                callId,
                Boolean.TRUE.equals(parent.get("background")),
                reported);
    }

    /** Whether it speaks for the parent of this task. */
    boolean isOf(StoredTask child) {
        return child.parent() != null && child.parent().taskId().equals(taskId);
    }

    /** References of the agents that bind the child whose start an event is, the nearest first; empty = it is no child. */
    static List<String> agents(Event event) {
        return of(event, Usage.NONE) != null
                        && event.payload().get(FIELD) instanceof Map<?, ?> parent
                        && parent.get("agents") instanceof List<?> agents
                ? agents.stream().map(String::valueOf).toList()
                : List.of();
    }

    /** The limits that the event names for a child. */
    static TaskLimits limits(Event event) {
        TaskLimits none = TaskLimits.UNLIMITED;
        return event.payload().get(FIELD) instanceof Map<?, ?> parent
                ? new TaskLimits(
                        none.maxIterations(),
                        none.maxToolCallsPerStep(),
                        none.maxTranscriptChars(),
                        limit(parent.get("maxTokens")),
                        limit(parent.get("maxCostMicros")),
                        limit(parent.get("maxLifeTimeMs")),
                        none.maxCausalDepth())
                : none;
    }

    private static long limit(@Nullable Object value) {
        return value instanceof Number number && number.longValue() > 0 ? number.longValue() : TaskLimits.NONE;
    }

    /** The field, for a child of this task. */
    static Map<String, @Nullable Object> field(
            StoredTask parent, String callId, boolean background, TaskLimits limits) {
        Map<String, @Nullable Object> field = new LinkedHashMap<>();
        field.put("taskId", parent.taskId());
        if (parent.sessionId() != null) {
            field.put("sessionId", parent.sessionId());
        }
        field.put("callId", callId);
        field.put("background", background);
        field.put("agents", parent.agent().binding());
        putLimit(field, "maxTokens", limits.maxTokens());
        putLimit(field, "maxCostMicros", limits.maxCostMicros());
        putLimit(field, "maxLifeTimeMs", limits.maxLifeTimeMs());
        return field;
    }

    private static void putLimit(Map<String, @Nullable Object> field, String name, long limit) {
        if (limit != TaskLimits.NONE) {
            field.put(name, limit);
        }
    }
}
