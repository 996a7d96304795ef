package dev.millrace.standalone.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SessionViewTest {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    @Test
    @DisplayName("a fact is a line with time, task, type and what it says, without what would steer a terminal")
    void shouldShowFacts() {
        SessionView view = view(false, 200);

        view.show(fact("TASK_CREATED", "0123456789", Map.of("inputText", "hi", "source", "user", "taskType", "clerk")));
        view.show(fact("TASK_NOTIFY", "0123456789", Map.of("message", "half \u001b[2Jdone", "severity", "info")));
        view.show(fact("file.changed", null, Map.of("filePath", "a.md")));

        assertThat(text().lines())
                .containsExactly(
                        "12:00:00  01234567  TASK_CREATED  clerk",
                        "12:00:00  01234567  TASK_NOTIFY  \"half \uFFFD[2Jdone\"",
                        "12:00:00            file.changed");
    }

    @Test
    @DisplayName("what only repeats another line is left out")
    void shouldLeaveOutRepetitions() {
        SessionView view = view(false, 200);

        view.show(fact("TASK_STATE_CHANGED", "t1", Map.of("fromState", "idle", "toState", "reasoning")));
        view.show(fact("STEP_COMPLETED", "t1", Map.of()));

        assertThat(text()).isEmpty();
    }

    @Test
    @DisplayName("what a model says does not steer the terminal")
    void shouldNotLetAModelSteerTheTerminal() {
        SessionView view = view(true, 200);

        view.show(piece("stream.start", null));
        view.show(piece("stream.text", "a\u001b[8mb\r\n\u009b2Ac\td"));

        assertThat(text()).isEqualTo("a\uFFFD[8mb\n\uFFFD2Ac\td");
    }

    @Test
    @DisplayName("at a terminal there is live text as it comes, on lines of its own, and there are colours")
    void shouldShowLiveText() {
        SessionView view = view(true, 200);

        view.show(piece("stream.start", null));
        view.show(piece("stream.text", "Hel"));
        view.show(piece("stream.text", "lo"));
        view.show(fact(
                "TASK_COMPLETED",
                "t1",
                Map.of("result", Map.of("taskId", "t1", "input", "x", "iterations", 1, "response", "Hello"))));

        assertThat(text())
                .isEqualTo("Hello" + System.lineSeparator() + "12:00:00  t1        \u001b[32mTASK_COMPLETED\u001b[0m"
                        + "  \"Hello\"" + System.lineSeparator());
    }

    @Test
    @DisplayName("a line is as wide as the terminal")
    void shouldCutLines() {
        SessionView view = view(false, 80);

        view.show(fact("TASK_NOTIFY", "t1", Map.of("message", "x".repeat(500), "severity", "info")));

        assertThat(text().strip()).hasSize(80).endsWith("…");
    }

    @Test
    @DisplayName("a conversation is idle when a task has ended and none goes on")
    void shouldKnowWhenItIsIdle() {
        SessionView view = view(false, 80);
        assertThat(view.isIdle()).isFalse();

        view.follow(fact("TASK_CREATED", "t1", Map.of()));
        view.follow(fact("TASK_CREATED", "t2", Map.of()));
        view.follow(fact("TASK_COMPLETED", "t1", Map.of()));
        assertThat(view.isIdle()).isFalse();
        view.follow(fact("TASK_FAILED", "t2", Map.of()));
        assertThat(view.isIdle()).isTrue();
        view.follow(fact("TASK_RESUMED", "t1", Map.of()));
        assertThat(view.isIdle()).isFalse();
    }

    private SessionView view(boolean live, int columns) {
        PrintStream printed = new PrintStream(out, true, StandardCharsets.UTF_8);
        return new SessionView(new Terminal(printed, printed, null, live, columns), true, ZoneOffset.UTC);
    }

    private String text() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private static JsonNode piece(String type, @Nullable String delta) {
        Map<String, @Nullable Object> piece = new LinkedHashMap<>();
        piece.put("type", type);
        piece.put("callId", "c1");
        piece.put("attempt", 1);
        piece.put("delta", delta);
        return Json.MAPPER.valueToTree(piece);
    }

    private static JsonNode fact(String type, @Nullable String taskId, Map<String, Object> payload) {
        Map<String, @Nullable Object> fact = new LinkedHashMap<>();
        fact.put("id", "e1");
        fact.put("type", type);
        fact.put("timestamp", 1_800_014_400_000L);
        fact.put("source", "test");
        fact.put("taskId", taskId);
        fact.put("sessionId", "s");
        fact.put("namespace", "default");
        fact.put("correlationId", "e1");
        fact.put("priority", null);
        fact.put("effectivePriority", 100);
        fact.put("payload", payload);
        fact.put("cursor", "0:1");
        return Json.MAPPER.valueToTree(fact);
    }
}
