package dev.millrace.gateway.rest.streams;

import dev.millrace.gateway.kafka.FactListener.Heard;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.StreamType;
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
        private final Object attempt;
        private long next = 1;
        private int chars;
        private final Map<String, StringBuilder> texts = new LinkedHashMap<>();

        Said(Object attempt) {
            this.attempt = attempt;
        }

        /** All of this text so far; {@code null} = a piece is missing, or it is too long. */
        @Nullable
        String with(String text, Object ofAttempt, long seq, String delta) {
            chars += delta.length();
            boolean whole = attempt.equals(ofAttempt) && seq == next && chars <= MAX_CONTENT;
            next = whole ? seq + 1 : -1;
            return whole
                    ? texts.computeIfAbsent(text, key -> new StringBuilder())
                            .append(delta)
                            .toString()
                    : null;
        }
    }

    /** A sign of the server's own, of this time in Unix milliseconds. */
    Map<String, @Nullable Object> ofServer(String type, long nowMs) {
        Map<String, @Nullable Object> message = new LinkedHashMap<>();
        message.put("type", type);
        message.put("timestamp", nowMs);
        message.put("sessionId", sessionId);
        return message;
    }

    /** What the client is told of it, in order; never empty. */
    List<Map<String, @Nullable Object>> of(Heard heard) {
        Event event = heard.event();
        if (heard.live() && event.type() instanceof StreamType type) {
            return List.of(flat(type.wireName(), event, live(type, event)));
        }
        List<Map<String, @Nullable Object>> messages = new ArrayList<>();
        Map<String, @Nullable Object> fact = new LinkedHashMap<>();
        fact.put("eventId", event.id());
        fact.put("source", event.source());
        if (event.parentEventId() != null) {
            fact.put("parentEventId", event.parentEventId());
        }
        fact.putAll(event.fields());
        messages.add(flat(event.type().wireName(), event, fact));
        Map<String, @Nullable Object> more = new LinkedHashMap<>();
        switch (event.payload()) {
            case Payload.ToolCallCompleted completed -> {
                more.put("callId", completed.callId());
                more.put("toolName", completed.toolName());
                more.put("success", true);
                more.put("result", completed.result());
                messages.add(flat(TOOL_RESULT, event, more));
            }
            case Payload.ToolCallFailed failed -> {
                more.put("callId", failed.callId());
                more.put("toolName", failed.toolName());
                more.put("success", false);
                more.put("error", failed.error());
                more.put("code", failed.code());
                messages.add(flat(TOOL_RESULT, event, more));
            }
            case Payload.TaskCompleted completed -> {
                more.put("state", "completed");
                more.put("response", completed.result().response());
                more.put("usage", event.fields().get("usage"));
                messages.add(flat(QUERY_COMPLETED, event, more));
            }
            case Payload.TaskFailed failed -> {
                more.put("state", "failed");
                more.put("error", failed.error());
                more.put("code", failed.code());
                messages.add(flat(QUERY_COMPLETED, event, more));
            }
            case Payload.TaskCancelled cancelled -> {
                more.put("state", "cancelled");
                more.put("error", cancelled.reason());
                if (cancelled.response() != null) {
                    more.put("response", cancelled.response());
                }
                messages.add(flat(QUERY_COMPLETED, event, more));
            }
            default -> {}
        }
        return messages;
    }

    private Map<String, @Nullable Object> live(StreamType type, Event event) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>(event.fields());
        String call = String.valueOf(fields.get("callId"));
        Object attempt = String.valueOf(fields.get("attempt"));
        long seq = fields.get("seq") instanceof Number number ? number.longValue() : -1;
        String delta = fields.get("delta") instanceof String text ? text : "";
        switch (type) {
            case START, RESTART -> calls.put(call, new Said(attempt));
            case TEXT, REASONING, TOOL_CALL -> {
                Said said = calls.get(call);
                String place = type == StreamType.TOOL_CALL ? type.wireName() + fields.get("index") : type.wireName();
                String content = said == null ? null : said.with(place, attempt, seq, delta);
                if (content != null) {
                    fields.put(type == StreamType.TOOL_CALL ? "arguments" : "content", content);
                }
            }
            case COMPLETED, ERROR -> calls.remove(call);
            case TOKEN -> {}
        }
        return fields;
    }

    /** The type and the session are those of the event, whatever its payload says. */
    private Map<String, @Nullable Object> flat(String type, Event event, Map<String, @Nullable Object> properties) {
        Map<String, @Nullable Object> message = new LinkedHashMap<>();
        message.put("type", type);
        message.put("sessionId", sessionId);
        message.put("timestamp", event.timestamp().toEpochMilli());
        if (event.taskId() != null) {
            message.put("taskId", event.taskId());
        }
        message.putAll(properties);
        message.put("type", type);
        message.put("sessionId", sessionId);
        return message;
    }
}
