package dev.millrace.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.http.client.InternalSecret;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.tasks.TaskQueries;
import dev.millrace.tools.tasks.TaskTools;
import dev.millrace.tools.text.TextTools;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BuiltInToolsTest {

    private final CallableTool currentTime = Calls.tool(
            new TimeTools(Clock.fixed(Instant.parse("2026-07-01T12:30:15.250Z"), ZoneOffset.UTC)), "current_time");

    @Test
    void shouldTellTheTime() throws ToolException, InterruptedException {
        assertThat(Calls.result(currentTime, Map.of()))
                .isEqualTo(Map.of("time", "2026-07-01T12:30:15Z", "timezone", "UTC"));
        assertThat(Calls.result(currentTime, Map.of("timezone", "Europe/Vienna")))
                .isEqualTo(Map.of("time", "2026-07-01T14:30:15+02:00", "timezone", "Europe/Vienna"));
    }

    @Test
    void shouldRefuseATimeZoneThatDoesNotExist() {
        assertThat(Calls.refusal(currentTime, Map.of("timezone", "Mars/Olympus"))
                        .code())
                .isEqualTo("unknown_timezone");
        assertThat(Calls.refusal(currentTime, Map.of("timezone", "../etc/passwd"))
                        .code())
                .isEqualTo("unknown_timezone");
    }

    @Test
    @DisplayName("F-115, F-168: notify only says what is to be told; the task machine tells it")
    void shouldHandOnANotification() throws ToolException, InterruptedException {
        CallableTool notify = Calls.tool(
                new TaskTools(
                        new TaskQueries(URI.create("http://localhost"), Duration.ofSeconds(1), InternalSecret.none())),
                "notify");
        assertThat(Calls.result(notify, Map.of("message", "half done")))
                .isEqualTo(Map.of("action", "notify", "message", "half done", "taskId", "task-1"));
    }

    @Test
    @DisplayName("F-168: reply only says what is to be said where; the task machine tells it")
    void shouldHandOnAReply() throws ToolException, InterruptedException {
        CallableTool reply = Calls.tool(
                new TaskTools(
                        new TaskQueries(URI.create("http://localhost"), Duration.ofSeconds(1), InternalSecret.none())),
                "reply");
        assertThat(Calls.result(reply, Map.of("text", "On it", "channelId", "C7", "replyTo", "m9")))
                .isEqualTo(Map.of(
                        "action", "reply", "text", "On it", "channelId", "C7", "replyTo", "m9", "taskId", "task-1"));
        assertThat(Calls.result(reply, Map.of("text", "On it", "channelId", "C7")))
                .doesNotContainKey("replyTo");
    }

    @Test
    @DisplayName("F-169: JSON in and out")
    void shouldParseAndWriteJson() throws ToolException, InterruptedException {
        assertThat(Calls.result(Calls.tool(new TextTools(), "json_parse"), Map.of("text", "{\"a\": [1, null, 2.50]}"))
                        .get("value"))
                .hasToString("{a=[1, null, 2.50]}");
        assertThat(Calls.result(Calls.tool(new TextTools(), "json_parse"), Map.of("text", "null")))
                .containsEntry("value", null);
        assertThat(Calls.result(Calls.tool(new TextTools(), "json_stringify"), Map.of("data", Map.of("a", 1))))
                .isEqualTo(Map.of("text", "{\"a\":1}"));
        assertThat(String.valueOf(Calls.result(
                                Calls.tool(new TextTools(), "json_stringify"),
                                Map.of("data", Map.of("a", 1), "pretty", true))
                        .get("text")))
                .contains("\n");
        ToolException no = Calls.refusal(Calls.tool(new TextTools(), "json_parse"), Map.of("text", "{\"a\": 1"));
        assertThat(no.code()).isEqualTo("not_json");
        assertThat(no.getMessage()).contains("line 1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{", "{} {}", "{\"a\":1,\"a\":2}", "NaN", "'a'", "[1,]", "\u0000"})
    void shouldTakeNothingElseForJson(String text) {
        assertThat(Calls.refusal(Calls.tool(new TextTools(), "json_parse"), Map.of("text", text))
                        .code())
                .isEqualTo("not_json");
    }

    @Test
    void shouldRefuseJsonThatIsNestedWithoutEnd() {
        assertThat(Calls.refusal(Calls.tool(new TextTools(), "json_parse"), Map.of("text", "[".repeat(100_000)))
                        .code())
                .isEqualTo("not_json");
    }

    @Test
    @DisplayName("F-169: base64 there and back")
    void shouldEncodeAndDecode() throws ToolException, InterruptedException {
        assertThat(Calls.result(Calls.tool(new TextTools(), "base64_encode"), Map.of("text", "grüß?>")))
                .isEqualTo(Map.of("encoded", "Z3LDvMOfPz4="));
        assertThat(Calls.result(Calls.tool(new TextTools(), "base64_decode"), Map.of("encoded", "Z3LDvMOfPz4=")))
                .isEqualTo(Map.of("text", "grüß?>"));
        assertThat(Calls.result(Calls.tool(new TextTools(), "base64_decode"), Map.of("encoded", "Z3LD\nvMOfPz4")))
                .isEqualTo(Map.of("text", "grüß?>"));
        assertThat(Calls.refusal(Calls.tool(new TextTools(), "base64_decode"), Map.of("encoded", "!"))
                        .code())
                .isEqualTo("not_base64");
        assertThat(Calls.refusal(Calls.tool(new TextTools(), "base64_decode"), Map.of("encoded", "/w=="))
                        .code())
                .isEqualTo("not_text");
    }

    @Test
    @DisplayName("F-169: sleep")
    void shouldSleep() throws ToolException, InterruptedException {
        // given
        long start = System.nanoTime();
        // when
        Map<String, Object> result =
                Calls.result(Calls.tool(new TimeTools(Clock.systemUTC()), "sleep"), Map.of("duration", 0.05));
        // then
        assertThat(result).containsEntry("sleptSeconds", 0.05);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(50_000_000);
    }
}
