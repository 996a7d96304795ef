package dev.millrace.requests;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Builds requests for tests. */
final class Requests {

    private Requests() {}

    static Event.Builder request(String callId, String toolName, Map<String, @Nullable Object> params) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", callId);
        payload.put("toolCallId", "tc-" + callId);
        payload.put("toolName", toolName);
        payload.put("params", params);
        payload.put("taskType", "general");
        payload.put("stepIndex", 0);
        payload.put("timeoutMs", 30_000);
        return Event.root("request-" + callId, KnownEventType.TOOL_CALL_REQUESTED, Instant.now())
                .source("cognitive.act")
                .taskId("task-" + callId)
                .correlationId("root")
                .parentEventId("parent-" + callId)
                .payload(payload);
    }
}
