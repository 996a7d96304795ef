package dev.millrace.tools.content;

import dev.millrace.tool.api.ToolContext;
import org.jspecify.annotations.Nullable;

/**
 * Whose content it is.
 *
 * @param namespace the tenant
 * @param taskId the task; empty if there is none
 * @param sessionId the conversation; {@code null} if there is none
 */
public record Owner(
        String namespace, String taskId, @Nullable String sessionId) {

    /** On whose behalf a tool is called. */
    static Owner of(ToolContext context) {
        return new Owner(
                context.namespace(), context.taskId(), context.session().orElse(null));
    }

    /** Whether this reader may see what belongs to that owner: the same tenant, and the same task or conversation. */
    boolean mayRead(Owner owner) {
        boolean sameTask = !taskId.isEmpty() && taskId.equals(owner.taskId);
        boolean sameSession = sessionId != null && sessionId.equals(owner.sessionId);
        return namespace.equals(owner.namespace) && (sameTask || sameSession);
    }
}
