package dev.millrace.gateway.rest.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.Json;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ChatRequestTest {

    private static final Instant EXPIRY = Instant.parse("2100-01-01T00:00:00Z");

    private static final Map<String, Object> IMAGE =
            Map.of("type", "image_url", "image_url", Map.of("url", "data:image/png;base64,aGk="));

    @Test
    void shouldRefuseMetadataThatNoEventCanHave() {
        Map<String, @Nullable Object> body = body(List.of(said("user", "hi")));
        body.put("metadata", Map.of("n", new BigDecimal("1e400")));

        assertThat(refusal(body)).startsWith("metadata: expected numbers in the range");
    }

    @Test
    void shouldMakeATaskOfAConversation() {
        // given
        Map<String, @Nullable Object> body = body(List.of(
                said("developer", "Be brief."),
                said(
                        "user",
                        List.of(
                                Map.of("type", "text", "text", "What"),
                                Map.of("type", "text", "text", "is it?"),
                                IMAGE)),
                said("assistant", "A mill."),
                said("user", List.of(IMAGE))));
        body.put("user", "u1");

        // when
        Event event = ChatRequest.of(Json.write(body))
                .event(new ChatRequest.Origin(null, "acme", EXPIRY, null, null), Instant.now());

        // then
        List<Map<String, String>> images = List.of(Map.of("mediaType", "image/png", "data", "aGk="));
        assertThat(EventSchemas.problems(event)).isEmpty();
        assertThat(event.sessionId()).isEqualTo("u1");
        assertThat(event.namespace()).isEqualTo("acme");
        assertThat(event.expiry()).isEqualTo(EXPIRY);
        assertThat(event.fields())
                .containsEntry("taskType", "general")
                .containsEntry("text", ChatRequest.NO_WORDS)
                .containsEntry("images", images)
                .containsEntry(
                        "history",
                        List.of(
                                Map.of("role", "system", "text", "Be brief."),
                                Map.of("role", "user", "text", "What\nis it?", "images", images),
                                Map.of("role", "assistant", "text", "A mill.")));
    }

    @Test
    void shouldTakeTheSessionFromTheHeaderFirst() {
        // given
        Map<String, @Nullable Object> body = body(List.of(said("user", "hello")));
        body.put("user", "u1");

        // when
        Event event = ChatRequest.of(Json.write(body))
                .event(new ChatRequest.Origin("s1", "default", null, null, null), Instant.now());

        // then
        assertThat(event.sessionId()).isEqualTo("s1");
    }

    @Test
    void shouldPassOverWhatOnlyTunesAModel() {
        // given
        Map<String, @Nullable Object> body = body(List.of(said("user", "hello")));
        body.putAll(Map.of("temperature", 0.2, "max_tokens", 5, "seed", 1, "stop", "x", "tools", List.of(), "n", 1));

        // then
        assertThat(ChatRequest.of(Json.write(body))
                        .event(new ChatRequest.Origin(null, "default", null, null, null), Instant.now())
                        .fields())
                .containsOnlyKeys("text", "taskType");
    }

    @Test
    void shouldRefuseMoreMessagesThanItTakes() {
        // given
        List<Map<String, Object>> messages = new ArrayList<>();
        for (int i = 0; i < ChatRequest.MAX_MESSAGES + 1; i++) {
            messages.add(said("user", "hello"));
        }

        // then
        assertThat(refusal(messages)).startsWith("messages: expected at most 1000, found 1001");
        assertThat(refusal(messages.subList(0, ChatRequest.MAX_MESSAGES))).isEmpty();
    }

    @Test
    void shouldRefuseWhatAnAgentCannotTake() {
        assertThat(refusal(List.of(said("tool", "42"), said("user", "hello"))))
                .startsWith("messages[0].role: expected no results of tools");
        assertThat(refusal(List.of(said("narrator", "Once."), said("user", "hello"))))
                .startsWith("messages[0].role: expected system, developer, user or assistant, found narrator");
        assertThat(refusal(List.of(said("assistant", List.of(IMAGE)), said("user", "hello"))))
                .startsWith("messages[0].content: expected images from the user only");
        assertThat(refusal(List.of(said("user", List.of(Map.of("type", "input_audio"))))))
                .startsWith("messages[0].content[0].type: expected text or image_url, found input_audio");
        assertThat(refusal(List.of(said("user", 7))))
                .startsWith("messages[0].content: expected a text or a list of parts");
    }

    private static String refusal(List<Map<String, Object>> messages) {
        return refusal(body(messages));
    }

    private static String refusal(Map<String, @Nullable Object> body) {
        ChatException refused = catchThrowableOfType(ChatException.class, () -> ChatRequest.of(Json.write(body)));
        return refused == null ? "" : String.valueOf(refused.getMessage());
    }

    private static Map<String, @Nullable Object> body(List<Map<String, Object>> messages) {
        return new HashMap<>(Map.of("model", "general", "messages", messages));
    }

    private static Map<String, Object> said(String role, Object content) {
        return Map.of("role", role, "content", content);
    }
}
