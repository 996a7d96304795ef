package dev.millrace.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class BuiltInToolsTest {

    private final Tool currentTime =
            new CurrentTime(Clock.fixed(Instant.parse("2026-07-01T12:30:15.250Z"), ZoneOffset.UTC));

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
        assertThat(Calls.result(new Notify(), Map.of("message", "half done")))
                .isEqualTo(Map.of("action", "notify", "message", "half done", "taskId", "task-1"));
    }
}
