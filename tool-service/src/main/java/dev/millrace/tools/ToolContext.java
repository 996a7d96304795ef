package dev.millrace.tools;

/**
 * On whose behalf a tool is called.
 *
 * @param taskId the task
 * @param namespace the tenant
 * @param callId the same on every attempt: the idempotency key
 */
public record ToolContext(String taskId, String namespace, String callId) {}
