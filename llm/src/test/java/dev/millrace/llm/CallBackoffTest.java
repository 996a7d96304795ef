package dev.millrace.llm;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CallBackoffTest {

    private final CallBackoff backoff = new CallBackoff(Duration.ofMillis(100), Duration.ofSeconds(1));

    @Test
    void shouldNeverExceedTheLongestPause() {
        // when
        Duration pause = backoff.after(60, "task-1/1/0");

        // then
        assertThat(pause).isBetween(Duration.ofMillis(500), Duration.ofSeconds(1));
    }

    @Test
    void shouldSpreadCallsThatFailedTogether() {
        // when
        long different = IntStream.range(0, 100)
                .mapToObj(i -> backoff.after(1, "task-" + i + "/1/0"))
                .distinct()
                .count();

        // then
        assertThat(different).isGreaterThan(95);
    }
}
