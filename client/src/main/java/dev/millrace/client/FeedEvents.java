package dev.millrace.client;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads what a stream tells. What has no record of its own is an {@link FeedEvent.Other}, since new types come. */
final class FeedEvents {

    private static final TypeReference<LinkedHashMap<String, @Nullable Object>> OBJECT = new TypeReference<>() {};

    private FeedEvents() {}

    static FeedEvent read(Millrace millrace, String cursor, JsonNode json) {
        String type = json.path("type").asText("");
        FeedEvent.Told told = new FeedEvent.Told(cursor, type, json);
        JsonNode payload = json.path("payload");
        return switch (type) {
            case "stream.text" -> new FeedEvent.Text(told, text(json, "callId"), attempt(json), text(json, "delta"));
            case "stream.restart" -> new FeedEvent.Restarted(told, text(json, "callId"), attempt(json));
            case "TOOL_CALL_REQUESTED" ->
                new FeedEvent.ToolCalled(told, text(payload, "callId"), text(payload, "toolName"), params(payload));
            case "TOOL_CALL_COMPLETED" -> new FeedEvent.ToolReturned(told, text(payload, "callId"), null);
            case "TOOL_CALL_FAILED" ->
                new FeedEvent.ToolReturned(told, text(payload, "callId"), text(payload, "error"));
            case "APPROVAL_REQUESTED" -> approval(millrace, told, payload);
            case "TASK_SUSPENDED" -> suspended(millrace, told, payload);
            case "TASK_COMPLETED" ->
                new FeedEvent.Completed(
                        told, payload.path("result").path("response").textValue());
            case "TASK_FAILED" -> new FeedEvent.Failed(told, text(payload, "code"), text(payload, "error"));
            case "TASK_CANCELLED" ->
                new FeedEvent.Cancelled(told, payload.path("reason").textValue());
            default -> new FeedEvent.Other(told);
        };
    }

    private static FeedEvent approval(Millrace millrace, FeedEvent.Told told, JsonNode payload) {
        return new FeedEvent.ApprovalRequested(
                told,
                new ApprovalClient(millrace, namespace(millrace, told)),
                text(payload, "callId"),
                text(payload, "toolName"),
                params(payload),
                payload.path("reason").textValue(),
                payload.path("expiresAt").textValue());
    }

    private static FeedEvent suspended(Millrace millrace, FeedEvent.Told told, JsonNode payload) {
        String question = payload.path("question").textValue();
        return question == null
                ? new FeedEvent.Other(told)
                : new FeedEvent.Question(
                        told,
                        new TaskHandle(millrace, namespace(millrace, told), text(told.json(), "taskId")),
                        question);
    }

    private static Map<String, @Nullable Object> params(JsonNode payload) {
        JsonNode params = payload.path("params");
        if (!params.isObject()) {
            return new LinkedHashMap<>();
        }
        return GatewayHttp.JSON.convertValue(params, OBJECT);
    }

    private static String namespace(Millrace millrace, FeedEvent.Told told) {
        return told.json().path("namespace").asText(millrace.namespace());
    }

    private static String text(JsonNode node, String field) {
        return node.path(field).asText("");
    }

    private static int attempt(JsonNode json) {
        return json.path("attempt").asInt();
    }
}
