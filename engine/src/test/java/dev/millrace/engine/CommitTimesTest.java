package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class CommitTimesTest {

    private static final Duration LIMIT = Duration.ofMillis(100);

    private final CommitTimes times = new CommitTimes();
    private final CommitTiming first = machine();
    private final CommitTiming second = machine();

    @Test
    void shouldWaitAsLongAsItMayWhenNothingIsDue() {
        assertThat(times.waiting(LIMIT, 5_000)).isEqualTo(LIMIT);
    }

    @Test
    void shouldWaitUntilTheFirstIsDue() {
        first.taken(5_000);
        first.awaited(); // committed at once
        first.sent(); // due 20 ms after that
        second.taken(5_010);
        second.awaited();
        second.sent();

        assertThat(times.waiting(LIMIT, 5_012)).isEqualTo(Duration.ofMillis(8));
    }

    @Test
    void shouldWaitLongEnoughForOthersToWorkWhenSomethingIsLate() {
        first.taken(5_000);
        first.awaited();
        first.sent();

        assertThat(times.waiting(LIMIT, 5_030)).isEqualTo(Duration.ofMillis(1));
    }

    @Test
    void shouldForgetMachinesThatAreClosed() {
        first.taken(5_000);
        first.awaited();
        first.sent();
        assertThat(times.waiting(LIMIT, 9_000)).isEqualTo(Duration.ofMillis(1));

        first.close();

        assertThat(times.waiting(LIMIT, 9_000)).isEqualTo(LIMIT);
    }

    private CommitTiming machine() {
        return new CommitTiming(() -> {}, Duration.ofMillis(20), times, () -> 0);
    }
}
