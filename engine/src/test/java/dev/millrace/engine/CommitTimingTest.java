package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CommitTimingTest {

    private final List<Long> commits = new ArrayList<>();
    private long nowMs;
    private double costMs;
    private long dated;
    private final CommitTiming policy = new CommitTiming(() -> commits.add(nowMs), () -> costMs, Duration.ofMillis(20));

    @Test
    void shouldCommitAtOnceWhileThereIsLittleToDo() {
        for (int i = 0; i < 100; i++) {
            take(1000 + i * 5L, true); // four in twenty milliseconds
        }

        assertThat(commits).hasSize(100);
    }

    @Test
    void shouldNotCommitNothing() {
        take(1000, false);
        pass(2000);

        assertThat(commits).isEmpty();
    }

    @Test
    void shouldCommitWhatNobodyWaitsForAfterTheInterval() {
        take(1000, true);
        take(1005, false);
        policy.sent();

        pass(1010);
        pass(1020);
        pass(1030);

        assertThat(commits).containsExactly(1000L, 1020L);
    }

    @Test
    void shouldGatherWhileThereIsMuchToDo() {
        for (int i = 0; i < 1000; i++) {
            take(1000 + i, true); // twenty in twenty milliseconds
        }

        // then: the first few at once, before anybody could know
        assertThat(commits.subList(8, commits.size()))
                .startsWith(1027L, 1047L, 1067L)
                .hasSize(49);
    }

    @Test
    void shouldGatherLongerWhereCommitsAreSlow() {
        costMs = 15;
        for (int i = 0; i < 1000; i++) {
            take(1000 + i, true);
        }

        assertThat(commits).startsWith(1000L, 1060L, 1120L);
    }

    @Test
    void shouldNotGatherForEver() {
        costMs = 500;
        for (int i = 0; i < 1000; i++) {
            take(1000 + i, true);
        }

        assertThat(commits).startsWith(1000L, 1200L, 1400L);
    }

    @Test
    void shouldCommitWhatWasGatheredWhenNothingMoreComes() {
        costMs = 15;
        for (int i = 0; i < 30; i++) {
            take(1000 + i, true);
        }
        commits.clear();

        pass(1040);
        pass(1050);
        pass(1080);
        pass(1200);

        assertThat(commits).containsExactly(1080L);
    }

    @Test
    void shouldLeaveHalfOfTheTimeToEverythingElse() {
        costMs = 6;
        for (int i = 0; i < 100; i++) {
            take(1000 + i * 5L, true);
        }

        assertThat(commits).startsWith(1000L, 1015L, 1030L);
    }

    @Test
    void shouldGatherWhereFewAreTakenBecauseCommitsTakeAllTheTime() {
        costMs = 30;
        dated = 900;
        for (int i = 0; i < 100; i++) {
            take(1000 + i * 10L, true);
        }

        assertThat(commits).startsWith(1000L, 1120L, 1240L);
    }

    @Test
    void shouldCommitAtOnceAgainAfterAPause() {
        for (int i = 0; i < 100; i++) {
            take(1000 + i, true);
        }

        take(1200, true);

        assertThat(commits).endsWith(1200L);
    }

    @Test
    void shouldGoOnIfTheClockGoesBack() {
        take(100_000, true);
        take(1000, true);

        assertThat(commits).containsExactly(100_000L, 1000L);
    }

    private void take(long now, boolean awaited) {
        nowMs = now;
        policy.taken(now, dated == 0 ? now - 1 : dated);
        if (awaited) {
            policy.awaited();
        }
    }

    private void pass(long now) {
        nowMs = now;
        policy.timePassed(now);
    }
}
