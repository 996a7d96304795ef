package dev.millrace.gateway.rest.streams;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.kafka.FactListener.Heard;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.StreamType;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SessionMessagesTest {
    private static final Instant NOW = Instant.parse("2026-11-23T12:00:00Z");

    private final SessionMessages messages = new SessionMessages("s1");

    @Test
    @DisplayName("F-250: an event is flat; its payload can say neither another type nor another session")
    void shouldFlattenAnEvent() {
        Map<String, @Nullable Object> told = one(fact(
                EventType.of("file.changed"),
                Map.of("filePath", "a.txt", "type", "modify", "sessionId", "another", "timestamp", "today")));

        assertThat(told)
                .containsEntry("type", "file.changed")
                .containsEntry("sessionId", "s1")
                .containsEntry("filePath", "a.txt")
                .containsEntry("timestamp", "today")
                .containsEntry("eventId", "e1");
    }

    @Test
    @DisplayName("F-251: text and thoughts come with all that was said so far, tool calls with their arguments")
    void shouldTellAllSoFar() {
        one(live(StreamType.START, 1, 0, Map.of("model", "m")));

        assertThat(one(live(StreamType.TEXT, 1, 1, Map.of("delta", "Hel")))).containsEntry("content", "Hel");
        assertThat(one(live(StreamType.REASONING, 1, 2, Map.of("delta", "hm")))).containsEntry("content", "hm");
        assertThat(one(live(StreamType.TEXT, 1, 3, Map.of("delta", "lo"))))
                .containsEntry("content", "Hello")
                .containsEntry("delta", "lo");
        one(live(StreamType.TOOL_CALL, 1, 4, Map.of("index", 0, "toolName", "t", "delta", "{\"a\"")));
        assertThat(one(live(StreamType.TOOL_CALL, 1, 5, Map.of("index", 0, "delta", ":1}"))))
                .containsEntry("arguments", "{\"a\":1}");
        one(live(StreamType.RESTART, 2, 0, Map.of("reason", "retry")));
        assertThat(one(live(StreamType.TEXT, 2, 1, Map.of("delta", "Again")))).containsEntry("content", "Again");
    }

    @Test
    @DisplayName("a text of which a piece is missing, or that is too long, is told by its pieces alone")
    void shouldNotTellHalfATextAsAll() {
        assertThat(one(live(StreamType.TEXT, 1, 7, Map.of("delta", "lo")))).doesNotContainKey("content");

        one(live(StreamType.START, 1, 0, Map.of()));
        one(live(StreamType.TEXT, 1, 1, Map.of("delta", "a")));
        assertThat(one(live(StreamType.TEXT, 1, 3, Map.of("delta", "c")))).doesNotContainKey("content");
        assertThat(one(live(StreamType.TEXT, 1, 4, Map.of("delta", "d")))).doesNotContainKey("content");

        one(live(StreamType.START, 1, 0, Map.of()));
        assertThat(one(live(StreamType.TEXT, 1, 1, Map.of("delta", "x".repeat(SessionMessages.MAX_CONTENT)))))
                .containsKey("content");
        assertThat(one(live(StreamType.TEXT, 1, 2, Map.of("delta", "x")))).doesNotContainKey("content");
    }

    @Test
    @DisplayName("F-251: what a tool has answered and the end of a query are told beside the facts")
    void shouldTellResultsAndTheEndOfAQuery() {
        List<JsonObject> failed = messages.of(fact(
                KnownEventType.TOOL_CALL_FAILED,
                Map.of("callId", "c1", "toolName", "t", "error", "no", "code", "tool_error")));
        List<JsonObject> ended = messages.of(fact(
                KnownEventType.TASK_COMPLETED,
                Map.of("result", Map.of("taskId", "m1", "input", "hi", "response", "Hi!", "iterations", 1))));

        assertThat(failed)
                .extracting(message -> message.get("type"))
                .containsExactly("TOOL_CALL_FAILED", "stream.tool.result");
        assertThat(failed.getLast()).containsEntry("success", false).containsEntry("toolName", "t");
        assertThat(ended)
                .extracting(message -> message.get("type"))
                .containsExactly("TASK_COMPLETED", "query.completed");
        assertThat(ended.getLast()).containsEntry("state", "completed").containsEntry("response", "Hi!");
    }

    private Map<String, @Nullable Object> one(Heard heard) {
        List<JsonObject> told = messages.of(heard);
        assertThat(told).hasSize(1);
        return told.getFirst();
    }

    private static Heard live(StreamType type, int attempt, int seq, Map<String, @Nullable Object> fields) {
        Map<String, @Nullable Object> payload = new HashMap<>(fields);
        payload.put("callId", "c1");
        payload.put("attempt", attempt);
        payload.put("seq", seq);
        return heard(type, payload, true);
    }

    private static Heard fact(EventType type, Map<String, @Nullable Object> payload) {
        return heard(type, payload, false);
    }

    private static Heard heard(EventType type, Map<String, @Nullable Object> payload, boolean live) {
        Event event = Event.root("e1", type, NOW)
                .taskId("m1")
                .sessionId("s1")
                .payload(payload)
                .build();
        return new Heard(new JournalEntry(new JournalCursor(0, 1), event), live, Places.of(0, 2, 0));
    }
}
