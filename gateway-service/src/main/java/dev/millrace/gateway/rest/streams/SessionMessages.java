package dev.millrace.gateway.rest.streams;

import dev.millrace.gateway.kafka.FactListener.Heard;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Payload;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The events of one conversation as flat messages {@code {type, ...properties}}: facts, live text with all that was
 * said so far, what tools have answered, and the end of each query. Holds what open calls have said; for one thread.
 */
final class SessionMessages {
    static final String CONNECTED = "server.connected";
    static final String HEARTBEAT = "server.heartbeat";
    /** What a tool has answered, beside the fact that it did. */
    static final String TOOL_RESULT = "stream.tool.result";
    /** The end of a whole query, which {@code stream.completed} of one model call is not. */
    static final String QUERY_COMPLETED = "query.completed";

    /** A longer text is told by its pieces alone. In characters. */
    static final int MAX_CONTENT = 1_000_000;
    /** Of so many calls at once; the one that has been silent for longest is told by its pieces alone. */
    static final int MAX_CALLS = 32;

    private final String sessionId;
    private final Map<String, Said> calls = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Said> eldest) {
            return size() > MAX_CALLS;
        }
    };

    SessionMessages(String sessionId) {
        this.sessionId = sessionId;
    }

    /** What one attempt of a call has said so far, piece after piece. */
    private static final class Said {
        private final long attempt;
        private long next = 1;
        private int chars;
        private final Map<String, StringBuilder> texts = new LinkedHashMap<>();

        Said(long attempt) {
            this.attempt = attempt;
        }

        /** All of this text so far; {@code null} = a piece is missing, or it is too long. */
        @Nullable
        String with(String text, Payload.LiveText piece, String delta) {
            chars += delta.length();
            boolean whole = piece.attempt() == attempt && piece.seq() == next && chars <= MAX_CONTENT;
            next = whole ? piece.seq() + 1 : -1;
            return whole
                    ? texts.computeIfAbsent(text, key -> new StringBuilder())
                            .append(delta)
                            .toString()
                    : null;
        }
    }

    /** A sign of the server's own, of this time in Unix milliseconds. */
    JsonObject ofServer(String type, long nowMs) {
        return JsonObject.builder()
                .put("type", type)
                .put("timestamp", nowMs)
                .put("sessionId", sessionId)
                .build();
    }

    /** What the client is told of it, in order; never empty. */
    List<JsonObject> of(Heard heard) {
        Event event = heard.event();
        if (event.payload() instanceof Payload.LiveText piece) {
            return List.of(live(event, piece));
        }
        String type = event.type().wireName();
        JsonObject.Builder fact = begin(type, event)
                .put("eventId", event.id())
                .put("source", event.source())
                .putIfPresent("parentEventId", event.parentEventId())
                .putAll(event.fields());
        List<JsonObject> messages = new ArrayList<>();
        messages.add(own(type, fact));
        JsonObject.Builder more =
                switch (event.payload()) {
                    case Payload.ToolCallCompleted completed ->
                        begin(TOOL_RESULT, event)
                                .put("callId", completed.callId())
                                .put("toolName", completed.toolName())
                                .put("success", true)
                                .put("result", completed.result());
                    case Payload.ToolCallFailed failed ->
                        begin(TOOL_RESULT, event)
                                .put("callId", failed.callId())
                                .put("toolName", failed.toolName())
                                .put("success", false)
                                .put("error", failed.error())
                                .put("code", failed.code());
                    case Payload.TaskCompleted completed ->
                        begin(QUERY_COMPLETED, event)
                                .put("state", "completed")
                                .put("response", completed.result().response())
                                .put("usage", event.fields().get("usage"));
                    case Payload.TaskFailed failed ->
                        begin(QUERY_COMPLETED, event)
                                .put("state", "failed")
                                .put("error", failed.error())
                                .put("code", failed.code());
                    case Payload.TaskCancelled cancelled ->
                        begin(QUERY_COMPLETED, event)
                                .put("state", "cancelled")
                                .put("error", cancelled.reason())
                                .putIfPresent("response", cancelled.response());
                    default -> null;
                };
        if (more != null) {
            messages.add(more.build());
        }
        return messages;
    }

    private JsonObject live(Event event, Payload.LiveText piece) {
        String type = event.type().wireName();
        JsonObject.Builder message = begin(type, event).putAll(event.fields());
        switch (piece) {
            case Payload.StreamStart start -> calls.put(piece.callId(), new Said(piece.attempt()));
            case Payload.StreamRestart restart -> calls.put(piece.callId(), new Said(piece.attempt()));
            case Payload.StreamDelta more -> message.putIfPresent("content", whole(type, piece, more.delta()));
            case Payload.StreamToolCall more ->
                message.putIfPresent("arguments", whole(type + more.index(), piece, more.delta()));
            case Payload.StreamCompleted completed -> calls.remove(piece.callId());
            case Payload.StreamError error -> calls.remove(piece.callId());
        }
        return own(type, message);
    }

    /** All of this text so far; {@code null} = it is not known. */
    private @Nullable String whole(String text, Payload.LiveText piece, String delta) {
        Said said = calls.get(piece.callId());
        return said == null ? null : said.with(text, piece, delta);
    }

    private JsonObject.Builder begin(String type, Event event) {
        return JsonObject.builder()
                .put("type", type)
                .put("sessionId", sessionId)
                .put("timestamp", event.timestamp().toEpochMilli())
                .putIfPresent("taskId", event.taskId());
    }

    /** The type and the session are those of the event, whatever its payload says. */
    private JsonObject own(String type, JsonObject.Builder message) {
        return message.put("type", type).put("sessionId", sessionId).build();
    }
}
