package dev.millrace.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Something that was told while it happened. What has no record of its own is an {@link Other}; later versions may have
 * more records, so a {@code switch} needs a {@code default}.
 */
public sealed interface FeedEvent {

    /** As it was told. */
    Told told();

    /** Where the feed stands after this event, for {@link Watch#after}; opaque. */
    default String cursor() {
        return told().cursor();
    }

    /** The type on the wire, such as {@code TASK_CREATED} or {@code stream.text}. */
    default String type() {
        return told().type();
    }

    /**
     * Everything that was told: of a fact a {@code dev.millrace.api.Entry}, of live text what docs/streaming.md says.
     */
    default JsonNode json() {
        return told().json();
    }

    /** The task that it is about; empty if it is about none. */
    default String taskId() {
        return json().path("taskId").asText("");
    }

    /**
     * An event as it was told.
     *
     * @param cursor where the feed stands after it
     * @param type on the wire
     * @param json all of it
     */
    record Told(String cursor, String type, JsonNode json) {}

    /** The model says something: to be appended to what it has said in this call. */
    record Text(Told told, String callId, int attempt, String delta) implements FeedEvent {}

    /** What the model said in this call so far is void; it is asked again. */
    record Restarted(Told told, String callId, int attempt) implements FeedEvent {}

    /** A tool is called. */
    record ToolCalled(Told told, String callId, String toolName, Map<String, @Nullable Object> params)
            implements FeedEvent {}

    /** A tool has answered; {@code error} says why it could not, and is {@code null} if it could. */
    record ToolReturned(Told told, String callId, @Nullable String error) implements FeedEvent {}

    /**
     * A tool call waits for a decision.
     *
     * @param reason why it needs one; {@code null} = every call of the tool does
     * @param expiresAt when it is decided without anybody, RFC 3339; {@code null} = never
     */
    record ApprovalRequested(
            Told told,
            ApprovalClient approvals,
            String callId,
            String toolName,
            Map<String, @Nullable Object> params,
            @Nullable String reason,
            @Nullable String expiresAt)
            implements FeedEvent {

        /** Lets the call run as it was asked for. */
        public void approve(@Nullable String by) {
            approvals.approve(callId, by);
        }

        /** Lets the call run with these arguments, which are all that it gets. */
        public void approve(@Nullable String by, Map<String, ? extends @Nullable Object> all) {
            approvals.approve(callId, by, all);
        }

        /** Does not let it run; the model is told why. */
        public void reject(@Nullable String by, @Nullable String why) {
            approvals.reject(callId, by, why);
        }
    }

    /** The task asks the person something, and waits. */
    record Question(Told told, TaskHandle task, String question) implements FeedEvent {

        /** Answers it; the task goes on. */
        public void answer(String text) {
            task.answer(text);
        }
    }

    /** The task has ended with an answer; {@code null} if it acted and said nothing. */
    record Completed(Told told, @Nullable String text) implements FeedEvent {}

    /** The task has failed, and stays so. */
    record Failed(Told told, String code, String error) implements FeedEvent {}

    /** The task was cancelled, and stays so. */
    record Cancelled(Told told, @Nullable String reason) implements FeedEvent {}

    /** Anything else. */
    record Other(Told told) implements FeedEvent {}
}
