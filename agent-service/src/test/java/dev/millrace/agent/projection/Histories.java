package dev.millrace.agent.projection;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.KnownEventType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Histories of tasks as the journal tells them. */
final class Histories {
    static final Instant START = Instant.parse("2026-01-02T03:04:05Z");

    private final List<Event> events = new ArrayList<>();

    private Histories(Event root) {
        events.add(root);
    }

    static Histories startedBy(String id) {
        return startedBy(id, START, null, Event.DEFAULT_NAMESPACE);
    }

    static Histories startedBy(String id, Instant at, @Nullable String sessionId, String namespace) {
        return new Histories(Event.root(id, KnownEventType.MESSAGE_RECEIVED, at)
                .source("user")
                .taskId(id)
                .sessionId(sessionId)
                .namespace(namespace)
                .payload(Map.of("text", "What time is it?"))
                .build());
    }

    /** From the message to the state {@code reasoning}. */
    Histories created() {
        return then(
                        KnownEventType.TASK_CREATED,
                        Map.of(
                                "inputText",
                                "What time is it?",
                                "source",
                                "user",
                                "inputMetadata",
                                Map.of(),
                                "taskType",
                                "explore"))
                .moved("idle", "reasoning")
                .then(KnownEventType.MODEL_CALL_REQUESTED, Map.of("callId", "c1", "iteration", 1));
    }

    Histories moved(String from, String to) {
        return then(KnownEventType.TASK_STATE_CHANGED, Map.of("fromState", from, "toState", to));
    }

    /** From {@link #created} over one tool call to the answer. */
    Histories answered() {
        return then(
                        KnownEventType.REASON_DONE,
                        Map.of("callId", "c1", "usage", Map.of("inputTokens", 100, "outputTokens", 10)))
                .moved("reasoning", "acting")
                .then(KnownEventType.TOOL_CALL_COMPLETED, Map.of("callId", "t1", "result", "12:00"))
                .moved("acting", "reasoning")
                .then(KnownEventType.MODEL_CALL_REQUESTED, Map.of("callId", "c2", "iteration", 2))
                .then(
                        KnownEventType.REASON_DONE,
                        Map.of("callId", "c2", "usage", Map.of("inputTokens", 150, "outputTokens", 20)))
                .moved("reasoning", "acting")
                .then(KnownEventType.STEP_COMPLETED, Map.of("stepIndex", 0, "actionsCount", 2))
                .moved("acting", "completed")
                .then(
                        KnownEventType.TASK_COMPLETED,
                        Map.of(
                                "result",
                                Map.of("response", "Noon.", "iterations", 2),
                                "usage",
                                Map.of("inputTokens", 250, "outputTokens", 30)));
    }

    Histories then(EventType type, Map<String, ?> payload) {
        Event last = events.getLast();
        events.add(last.derive(type, events.size(), last.timestamp().plusMillis(10))
                .payload(whole(type, payload))
                .build());
        return this;
    }

    /** The payload with what its schema wants beside it. */
    static Map<String, @Nullable Object> whole(EventType type, Map<String, ?> payload) {
        return whole(EventSchemas.payloadSchema(type).orElseThrow(), payload);
    }

    private static Map<String, @Nullable Object> whole(JsonNode schema, Map<?, ?> given) {
        Map<String, @Nullable Object> whole = new HashMap<>();
        schema.path("required").forEach(name -> {
            JsonNode field = schema.path("properties").path(name.asText());
            whole.put(name.asText(), something(field));
        });
        given.forEach((name, value) -> {
            JsonNode field = schema.path("properties").path(String.valueOf(name));
            whole.put(
                    String.valueOf(name),
                    value instanceof Map<?, ?> inner && field.has("properties") ? whole(field, inner) : value);
        });
        return whole;
    }

    private static @Nullable Object something(JsonNode schema) {
        if (schema.has("enum")) {
            return schema.path("enum").get(0).asText();
        }
        return switch (schema.path("type").asText()) {
            case "string" -> "something";
            case "integer" -> 0;
            case "object" -> whole(schema, Map.of());
            default -> null;
        };
    }

    List<Event> events() {
        return List.copyOf(events);
    }
}
