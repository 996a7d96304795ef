package dev.millrace.agent.projection;

import dev.millrace.api.Approval;
import org.jspecify.annotations.Nullable;

/**
 * Which open approvals to list.
 *
 * @param namespace of this tenant only
 * @param taskId of this task only; {@code null} = of any
 * @param sessionId of this conversation only; {@code null} = of any
 * @param toolName of calls of this tool only; {@code null} = of any
 * @param limit at most so many, 1 to {@value TaskQuery#MAX_LIMIT}
 * @param after the {@link Approval.Page#next} of the page before; {@code null} = those that have waited longest
 */
public record ApprovalQuery(
        String namespace,
        @Nullable String taskId,
        @Nullable String sessionId,
        @Nullable String toolName,
        int limit,
        @Nullable String after) {

    public ApprovalQuery {
        TaskQuery.requireLimit(limit);
    }

    boolean wants(Approval approval) {
        return (taskId == null || taskId.equals(approval.taskId()))
                && (sessionId == null || sessionId.equals(approval.sessionId()))
                && (toolName == null || toolName.equals(approval.toolName()));
    }
}
