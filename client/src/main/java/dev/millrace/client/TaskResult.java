package dev.millrace.client;

/**
 * What a task came to.
 *
 * @param taskId which task
 * @param text the answer; empty if it acted and said nothing
 * @param inputTokens that its models read; 0 if no provider said
 * @param outputTokens that its models wrote; 0 if no provider said
 */
public record TaskResult(String taskId, String text, long inputTokens, long outputTokens) {}
