package dev.millrace.agent.projection;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Whose use of models to add up.
 *
 * @param filter whose
 * @param from since this moment, in Unix milliseconds, and since the hour that it is in; {@code null} = since the
 *     beginning
 * @param to before this moment, and to the end of the hour that it is in; {@code null} = until now
 * @param groupBy one sum for each combination of these, in this order; empty = one for all
 */
public record UsageQuery(
        Filter filter, @Nullable Long from, @Nullable Long to, List<Dimension> groupBy) {

    /** What sums can be told apart by. */
    public enum Dimension {
        NAMESPACE,
        SESSION,
        TASK,
        AGENT,
        MODEL,
        HOUR,
        DAY;

        /** As it is written in a query. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Empty if there is none that is written like this. */
        public static Optional<Dimension> of(String wireName) {
            for (Dimension dimension : values()) {
                if (dimension.wireName().equals(wireName)) {
                    return Optional.of(dimension);
                }
            }
            return Optional.empty();
        }
    }

    /**
     * Whose use; {@code null} = anyone's.
     *
     * @param namespace of this tenant only
     * @param sessionId of this conversation only; needs a namespace
     * @param taskId of this task only; needs a namespace
     * @param agent of this agent only
     * @param model of this model only, by the name that its provider gives it
     */
    public record Filter(
            @Nullable String namespace,
            @Nullable String sessionId,
            @Nullable String taskId,
            @Nullable String agent,
            @Nullable String model) {

        boolean wants(UsageKey key) {
            return (namespace == null || namespace.equals(key.namespace()))
                    && (sessionId == null || sessionId.equals(key.sessionId()))
                    && (taskId == null || taskId.equals(key.taskId()))
                    && (agent == null || agent.equals(key.agent()))
                    && (model == null || model.equals(key.model()));
        }
    }

    public UsageQuery {
        groupBy = List.copyOf(groupBy);
        if (from != null && to != null && to <= from) {
            throw new IllegalArgumentException("to: expected a moment after from, found one that is not");
        }
        if (filter.namespace() == null && (filter.sessionId() != null || filter.taskId() != null)) {
            throw new IllegalArgumentException(
                    "namespace: expected one, since sessions and tasks belong to one, found * (all)");
        }
    }

    /** Whether the sums of whole namespaces are enough to answer. */
    boolean isCoarse() {
        return filter.sessionId() == null
                && filter.taskId() == null
                && !groupBy.contains(Dimension.SESSION)
                && !groupBy.contains(Dimension.TASK);
    }
}
