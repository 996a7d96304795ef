package dev.millrace.agent.projection;

import dev.millrace.schemas.Payload;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What people are told about a task. Written as JSON as it stands, absent values as {@code null}.
 *
 * @param taskId its id, unique in the namespace
 * @param namespace the tenant
 * @param sessionId the conversation; {@code null} = the task is one of its own
 * @param taskType the agent that works on it; the one that was asked for until {@code agent} is told
 * @param agent the agent that works on it; {@code null} = it has not begun
 * @param agentVersion of its definition, on which the task stays; {@code null} = it has not begun, or began before this was
 *     told
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
 * @param waitingFor what it waits for; {@code null} = nothing: it has ended
 * @param budget what it has used and may use; {@code null} = the journal does not tell
 * @param callbackUrl where notifications go; {@code null} = nowhere
 * @param transitions how often it has moved from state to state
 * @param partition the journal's partition that has it
 * @param firstCursor its first event
 * @param lastCursor its last event so far
 */
public record TaskView(
        String taskId,
        String namespace,
        @Nullable String sessionId,
        String taskType,
        @Nullable String agent,
        @Nullable String agentVersion,
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
        @Nullable WaitingFor waitingFor,
        @Nullable Budget budget,
        @Nullable String callbackUrl,
        int transitions,
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

    /**
     * What a task waits for.
     *
     * @param kind {@code admission}, {@code model}, {@code tools}, {@code answer}, {@code approval}, {@code resume} or
     *     {@code children}
     * @param callIds the calls that it waits for; may be empty
     * @param question what it asks; {@code null} = nothing
     * @param since Unix milliseconds
     * @param until when it stops waiting by itself, RFC 3339; {@code null} = never, or not told
     */
    public record WaitingFor(
            String kind,
            List<String> callIds,
            @Nullable String question,
            long since,
            @Nullable String until) {

        public WaitingFor(
                String kind,
                @Nullable List<String> callIds,
                @Nullable String question,
                long since,
                @Nullable String until) {
            this.kind = kind;
            this.callIds = callIds == null ? List.of() : List.copyOf(callIds);
            this.question = question;
            this.since = since;
            this.until = until;
        }

        static WaitingFor of(String kind, long since) {
            return new WaitingFor(kind, List.of(), null, since, null);
        }

        WaitingFor with(List<String> calls) {
            return new WaitingFor(kind, calls, question, since, until);
        }

        WaitingFor asking(String text) {
            return new WaitingFor(kind, callIds, text, since, until);
        }

        WaitingFor until(@Nullable String time) {
            return new WaitingFor(kind, callIds, question, since, time);
        }
    }

    /**
     * What a task has used and may use. Each is {@code null} if there is no such limit, or the journal does not tell.
     *
     * @param iterations model calls
     * @param maxIterations the most model calls
     * @param inputTokens read by models
     * @param outputTokens written by models
     * @param maxTokens the most tokens of both kinds
     * @param costMicros in millionths of a US dollar
     * @param maxCostMicros the most of it
     * @param expiresAt when its life time ends, RFC 3339
     */
    public record Budget(
            @Nullable Long iterations,
            @Nullable Long maxIterations,
            @Nullable Long inputTokens,
            @Nullable Long outputTokens,
            @Nullable Long maxTokens,
            @Nullable Long costMicros,
            @Nullable Long maxCostMicros,
            @Nullable String expiresAt) {

        static Budget of(Payload.Budget told) {
            return new Budget(
                    told.iterations(),
                    told.maxIterations(),
                    told.inputTokens(),
                    told.outputTokens(),
                    told.maxTokens(),
                    told.costMicros(),
                    told.maxCostMicros(),
                    told.expiresAt());
        }
    }
}
