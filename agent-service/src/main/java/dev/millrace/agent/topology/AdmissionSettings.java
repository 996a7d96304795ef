package dev.millrace.agent.topology;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How many tasks work at the same time, and how many of them may be those of one namespace.
 *
 * @param maxActiveTasks places per partition, 1 or more
 * @param whenFull what happens to a new task that finds none free
 * @param quotas by namespace; {@link #ALL_OTHERS} = that of each which has none of its own
 */
public record AdmissionSettings(int maxActiveTasks, Policy whenFull, Map<String, Quota> quotas) {

    /** The namespace whose quota is that of all who have none of their own. */
    public static final String ALL_OTHERS = "*";

    /** What happens to a task that finds no place free. */
    public enum Policy {
        /** It waits. */
        QUEUE,
        /** It is admitted all the same, counted and logged. */
        WARN,
        /** It fails at once if it is new; one that goes on after a suspension waits. */
        REJECT
    }

    /**
     * What one namespace may have, per partition.
     *
     * @param activeTasks that work at the same time, 1 or more; the others wait, also with {@link Policy#WARN}; with
     *     {@link Policy#REJECT} new ones fail; {@code null} = as many as there are places
     * @param queuedTasks that wait, 0 or more; a new one beyond them fails at once; {@code null} = any number
     */
    public record Quota(
            @Nullable Integer activeTasks, @Nullable Integer queuedTasks) {

        /** Of a namespace that nothing limits. */
        static final Quota NONE = new Quota(null, null);
    }

    public AdmissionSettings {
        if (maxActiveTasks < 1) {
            throw new IllegalArgumentException(
                    "millrace.agent.admission.max-active-tasks: expected 1 or more, found " + maxActiveTasks);
        }
        quotas = Map.copyOf(quotas);
        quotas.forEach((namespace, quota) -> {
            require(namespace, "active-tasks", 1, quota.activeTasks());
            require(namespace, "queued-tasks", 0, quota.queuedTasks());
        });
    }

    private static void require(String namespace, String key, int least, @Nullable Integer found) {
        if (found != null && found < least) {
            throw new IllegalArgumentException("millrace.agent.quotas." + namespace + '.' + key + ": expected " + least
                    + " or more, found " + found);
        }
    }

    /** The same for all namespaces. */
    public AdmissionSettings(int maxActiveTasks, Policy whenFull) {
        this(maxActiveTasks, whenFull, Map.of());
    }

    Quota quota(String namespace) {
        Quota own = quotas.get(namespace);
        return own != null ? own : quotas.getOrDefault(ALL_OTHERS, Quota.NONE);
    }
}
