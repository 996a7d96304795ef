package dev.millrace.schemas.docs;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.ToolDefinition;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the documents show as examples: real events, made by the code that makes them in earnest. */
final class Samples {
    private static final Instant NOW = Instant.parse("2026-11-21T10:15:30.123Z");
    private static final String TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    private Samples() {}

    static Event request() {
        return Event.root("8a1f0c6d2b7e4f5a9c3d1e0f7b6a5948", KnownEventType.TOOL_CALL_REQUESTED, NOW)
                .source("cognitive.act")
                .taskId("01981d3e-7a00-7c3f-9d2a-3f1f5c9b1a01")
                .sessionId("s-7")
                .correlationId("01981d3e-7a00-7c3f-9d2a-3f1f5c9b1a01")
                .parentEventId("6f1b0f4b1c5d4e0b8f4f3f0a3b1c2d3e")
                .traceparent(TRACEPARENT)
                .payload(object("""
                        {"callId": "01981d3e-7a00-7c3f-9d2a-3f1f5c9b1a01/1/0-9f2c41d7", "toolCallId": "call_1",
                         "toolName": "weather", "params": {"city": "Turin"}, "taskType": "general", "stepIndex": 0,
                         "timeoutMs": 5000}"""))
                .build();
    }

    /** What a worker has to answer; nothing here may come from elsewhere than the request. */
    static Event reply(Event request) {
        String callId = String.valueOf(request.fields().get("callId"));
        String id = Ids.hash(callId + "\n" + KnownEventType.TOOL_CALL_COMPLETED).substring(0, 32);
        return Event.root(id, KnownEventType.TOOL_CALL_COMPLETED, NOW.plusMillis(40))
                .source("weather-worker")
                .taskId(request.taskId())
                .sessionId(request.sessionId())
                .namespace(request.namespace())
                .correlationId(request.correlationId())
                .parentEventId(request.parentEventId())
                .traceparent(request.traceparent())
                .tracestate(request.tracestate())
                .payload(object("""
                        {"callId": "%s", "toolName": "weather", "result": {"sky": "rain", "celsius": 11}, "durationMs": 38}""".formatted(callId)))
                .build();
    }

    static ToolDefinition definition() {
        return new ToolDefinition(
                "weather",
                "Tells the weather of a city as it is now.",
                JsonObject.of(object("""
                        {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}""")),
                "weather",
                5_000,
                ToolDefinition.SideEffects.READ_ONLY,
                new ToolDefinition.Approval.Never(),
                null,
                ToolDefinition.OnExpiry.REJECT,
                new ToolDefinition.Retry(3, 500));
    }

    private static Map<String, @Nullable Object> object(String json) {
        try {
            return Json.readObject(json.getBytes(StandardCharsets.UTF_8));
        } catch (MalformedEventException e) {
            throw new AssertionError(e);
        }
    }
}
