package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BackoffTest {

    @Test
    void shouldPauseLongerEachTimeByAnAmountThatFollowsFromTheCall() {
        // given
        Backoff one = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(10), "call-1");
        Backoff other = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(10), "call-2");
        // then
        for (int failures = 1; failures < 70; failures++) {
            Duration full = failures > 4 ? Duration.ofSeconds(10) : Duration.ofSeconds(1L << (failures - 1));
            assertThat(one.after(failures, null)).isBetween(full.dividedBy(2), full);
            assertThat(one.after(failures, null)).isEqualTo(one.after(failures, null));
        }
        assertThat(one.after(1, null)).isNotEqualTo(other.after(1, null));
        assertThat(one.after(1, Duration.ofMinutes(1))).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    void shouldSpreadCallsThatFailedTogether() {
        // when
        long different = IntStream.range(0, 100)
                .mapToObj(i -> new Backoff(Duration.ofMillis(100), Duration.ofSeconds(1), "task-" + i + "/1/0"))
                .map(backoff -> backoff.after(1, null))
                .distinct()
                .count();
        // then
        assertThat(different).isGreaterThan(95);
    }

    @Test
    void shouldNotPauseWhereThereIsNoTime() throws InterruptedException {
        // given
        Backoff backoff = new Backoff(Duration.ofMillis(20), Duration.ofSeconds(1), "call-1");
        long start = System.nanoTime();
        // then
        assertThat(backoff.pause(
                        1, Duration.ofHours(1), start + Duration.ofMinutes(1).toNanos()))
                .isFalse();
        assertThat(backoff.pause(1, null, start + Duration.ofMinutes(1).toNanos()))
                .isTrue();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(10));
    }
}
