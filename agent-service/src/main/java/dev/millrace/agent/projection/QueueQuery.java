package dev.millrace.agent.projection;

import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which items of the queue are wanted.
 *
 * @param status {@code null} = any
 * @param sessionId {@code null} = any, and of none
 * @param order in which order
 * @param limit at most so many, 1 to {@value TaskQuery#MAX_LIMIT}
 * @param before what a page said is its next one; {@code null} = the first page
 */
public record QueueQuery(
        String namespace,
        @Nullable String status,
        @Nullable String sessionId,
        Order order,
        int limit,
        @Nullable String before) {

    /** In which order items are told. */
    public enum Order {
        /** The newest first. */
        NEWEST,
        /** Those of a session that are pending, the next one first: by priority, then by arrival. */
        WORK;

        /** By its name; {@code null} = the newest first. */
        public static Order of(@Nullable String name) {
            if (name == null) {
                return NEWEST;
            }
            return switch (name) {
                case "newest" -> NEWEST;
                case "work" -> WORK;
                default -> throw new IllegalArgumentException("order: expected newest or work, found \"" + name + '"');
            };
        }
    }

    public QueueQuery {
        TaskQuery.requireLimit(limit);
        if (order == Order.WORK && (sessionId == null || !(status == null || status.equals(QueueStatus.PENDING)))) {
            throw new IllegalArgumentException("order: expected work with a sessionId and no status but pending");
        }
        if (status != null && !QueueStatus.ALL.contains(status)) {
            throw new IllegalArgumentException("status: expected one of "
                    + String.join(", ", new TreeSet<>(QueueStatus.ALL)) + ", found \"" + status + "\"");
        }
    }
}
