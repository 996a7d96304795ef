package dev.millrace.agent.projection;

import org.jspecify.annotations.Nullable;

/**
 * What people are told about a task. Written as JSON as it stands, absent values as {@code null}.
 *
 * @param taskId its id, unique in the namespace
 * @param namespace the tenant
 * @param sessionId the conversation; {@code null} = the task is one of its own
 * @param taskType the agent that works on it
 * @param state the last state that the journal tells
 * @param inputText what was asked, cut at {@value TaskRow#MAX_INPUT} characters
 * @param source who asked
 * @param priority the effective priority of the event that began it
 * @param createdAt Unix milliseconds
 * @param updatedAt when its last event happened, Unix milliseconds
 * @param iterations model calls asked for so far, repeated ones not counted
 * @param response the answer; {@code null} = none yet
 * @param error why it failed or was cancelled, for people; {@code null} = it was not
 * @param errorCode the same for programs
 * @param question what it asks while it is suspended; {@code null} = nothing
 * @param usage tokens so far
 * @param partition the journal's partition that has it
 * @param firstCursor its first event
 * @param lastCursor its last event so far
 */
public record TaskView(
        String taskId,
        String namespace,
        @Nullable String sessionId,
        String taskType,
        String state,
        String inputText,
        String source,
        int priority,
        long createdAt,
        long updatedAt,
        int iterations,
        @Nullable String response,
        @Nullable String error,
        @Nullable String errorCode,
        @Nullable String question,
        Usage usage,
        int partition,
        String firstCursor,
        String lastCursor) {

    /**
     * Tokens.
     *
     * @param inputTokens read by models
     * @param outputTokens written by models
     */
    public record Usage(long inputTokens, long outputTokens) {}
}
