package dev.millrace.tools;

import org.jspecify.annotations.Nullable;

/**
 * On whose behalf a tool is called.
 *
 * @param taskId the task; empty if there is none
 * @param sessionId the conversation; {@code null} if the task is one of its own
 * @param namespace the tenant
 * @param callId the same on every attempt: the idempotency key
 */
public record ToolContext(String taskId, @Nullable String sessionId, String namespace, String callId) {}
