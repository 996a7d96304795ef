package dev.millrace.agent.projection;

import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which items of the queue are wanted.
 *
 * @param status {@code null} = any
 * @param sessionId {@code null} = any, and of none
 * @param limit at most so many, 1 to {@value TaskQuery#MAX_LIMIT}
 * @param before what a page said is its next one; {@code null} = the first page
 */
public record QueueQuery(
        String namespace,
        @Nullable String status,
        @Nullable String sessionId,
        int limit,
        @Nullable String before) {
    public QueueQuery {
        TaskQuery.requireLimit(limit);
        if (status != null && !QueueStatus.ALL.contains(status)) {
            throw new IllegalArgumentException("status: expected one of "
                    + String.join(", ", new TreeSet<>(QueueStatus.ALL)) + ", found \"" + status + "\"");
        }
    }
}
