package dev.millrace.llm;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class DispatcherLimitsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    void shouldNameTheKeyOfABadNumber() {
        assertThatThrownBy(() -> new DispatcherLimits(0, 1, SECOND, SECOND, SECOND))
                .hasMessage("millrace.llm.max-concurrent-calls: expected 1 or more, found 0");
    }

    @Test
    void shouldNameTheKeyOfABadDuration() {
        assertThatThrownBy(() -> new DispatcherLimits(1, 1, Duration.ZERO, SECOND, SECOND))
                .hasMessage("millrace.llm.call-timeout: expected more than zero, found PT0S");
    }
}
