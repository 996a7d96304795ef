package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CommitTimingTest {

    private final List<Long> commits = new ArrayList<>();
    private long nowMs;
    private long commitTakesMs;
    private int underWay;
    private boolean awaited = true;
    private boolean askedFor;
    /** Whether Streams commits when it is asked for it, as it does unless its group is being rebalanced. */
    private boolean commitsMade = true;

    private final CommitTimes ofThread = new CommitTimes();
    private final CommitTiming policy =
            new CommitTiming(this::commit, Duration.ofMillis(20), ofThread, () -> underWay, () -> {});

    @Test
    void shouldCommitAtOnceWhileLittleIsUnderWay() {
        underWay = 2;
        for (int i = 0; i < 100; i++) {
            take(1000 + i * 5L, true);
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
        pass(1025);
        pass(1050);

        assertThat(commits).containsExactly(1000L, 1025L);
    }

    @Test
    void shouldCommitWhatNobodyWaitsForWithWhatSomebodyDoes() {
        take(1000, false);
        policy.sent();
        assertThat(policy.dueMs()).isEqualTo(1020);

        take(1010, true);
        pass(1020);
        pass(1100);

        assertThat(commits).containsExactly(1010L);
    }

    @Test
    void shouldCommitAtOnceWhenTheClockIsSetBack() {
        take(100_000, false);
        policy.sent();

        pass(50_000);

        assertThat(commits).containsExactly(50_000L);
    }

    @Test
    void shouldGatherAMillisecondForEachThingUnderWay() {
        underWay = 8;
        takeUntil(2000, 1);

        assertThat(commits).startsWith(1008L, 1017L, 1026L);
    }

    @Test
    void shouldGatherForTheIntervalWhileMuchIsUnderWay() {
        underWay = 500;
        takeUntil(2000, 1);

        assertThat(commits).startsWith(1020L, 1041L, 1062L);
    }

    @Test
    void shouldGatherLongerWhereCommitsAreSlow() {
        commitTakesMs = 15;
        underWay = 64;
        takeUntil(3000, 1);

        // then: a fifth of the time for commits
        assertThat(apart(commits.subList(commits.size() / 2, commits.size())))
                .allSatisfy(gap -> assertThat(gap).isBetween(72L, 80L));
    }

    @Test
    @DisplayName("much under way, commits of half a second: ten intervals of work between them, and not more")
    void shouldNotGatherForEver() {
        commitTakesMs = 500;
        underWay = 64;
        takeUntil(60_000, 10);

        assertThat(apart(commits.subList(commits.size() / 2, commits.size())))
                .allSatisfy(gap -> assertThat(gap).isBetween(700L, 720L));
    }

    @Test
    @DisplayName("few things under way, slow commits: as much time for work as for commits, or a backlog would grow")
    void shouldWorkAsLongAsACommitTakes() {
        commitTakesMs = 100;
        underWay = 4;
        takeUntil(30_000, 10);

        assertThat(apart(commits.subList(commits.size() / 2, commits.size())))
                .allSatisfy(gap -> assertThat(gap).isBetween(190L, 220L));
    }

    @Test
    @DisplayName("nobody waits, slow commits, such as for dead letters one after the other: the same")
    void shouldGatherWhatNobodyWaitsForWhereCommitsAreSlow() {
        commitTakesMs = 100;
        underWay = 1;
        awaited = false;
        takeUntil(30_000, 10);

        assertThat(apart(commits.subList(commits.size() / 2, commits.size())))
                .allSatisfy(gap -> assertThat(gap).isBetween(190L, 220L));
    }

    @Test
    @DisplayName("a commit that is not made, as while a group is rebalanced, is asked for again in the next turn")
    void shouldAskAgainForACommitThatWasNotMade() {
        commitsMade = false;
        take(1000, true);
        take(1001, true);
        assertThat(commits).containsExactly(1000L);
        assertThat(policy.dueMs()).isEqualTo(Long.MAX_VALUE);

        ofThread.waited(1100, 0);
        commitsMade = true;
        pass(1101);
        ofThread.waited(1200, 0);
        pass(1201);

        assertThat(commits).containsExactly(1000L, 1101L);
    }

    @Test
    @DisplayName("what is sent between the question and the commit is in it")
    void shouldNotAskForWhatIsCommittedAlready() {
        commitsMade = false;
        take(1000, true);
        take(1005, true);
        commitsMade = true;
        makeCommit();

        pass(1100);

        assertThat(commits).containsExactly(1000L);
    }

    @Test
    void shouldCommitAtOnceWhileLittleIsUnderWayHoweverSlowCommitsAre() {
        commitTakesMs = 100;
        underWay = 2;
        takeUntil(30_000, 10);

        assertThat(apart(commits)).allSatisfy(gap -> assertThat(gap).isEqualTo(110));
    }

    @Test
    void shouldCommitWhatWasGatheredWhenNothingMoreComes() {
        underWay = 500;
        takeUntil(1035, 1);
        commits.clear();

        pass(1040);
        pass(1041);
        pass(1060);
        pass(1200);

        assertThat(commits).containsExactly(1041L);
    }

    @Test
    void shouldCommitAtOnceAgainWhenLittleIsLeft() {
        underWay = 500;
        takeUntil(1100, 1);
        underWay = 1;

        take(1200, true);

        assertThat(commits).endsWith(1200L);
    }

    @Test
    void shouldNotTakeAPauseForASlowCommit() {
        underWay = 500;
        takeUntil(1100, 1);
        take(60_000, true);
        commits.clear();

        takeUntil(60_200, 1);

        assertThat(apart(commits)).allSatisfy(gap -> assertThat(gap).isLessThanOrEqualTo(24));
    }

    @Test
    @DisplayName("a pause of a minute within a commit is not how long commits take")
    void shouldNotTakeAPauseWithinACommitForASlowOne() {
        underWay = 500;
        takeUntil(1100, 1);
        commitTakesMs = 60_000;
        takeUntil(2000, 1);
        commitTakesMs = 0;
        commits.clear();

        takeUntil(62_000, 1);

        assertThat(apart(commits)).allSatisfy(gap -> assertThat(gap).isLessThanOrEqualTo(24));
    }

    @Test
    void shouldGoOnIfTheClockGoesBack() {
        take(100_000, true);
        take(1000, true);

        assertThat(commits).containsExactly(100_000L, 1000L);
    }

    private void commit() {
        commits.add(nowMs);
        askedFor = true;
    }

    /** As Streams does when what it has taken is through. */
    private void makeCommit() {
        if (askedFor && commitsMade) {
            askedFor = false;
            ofThread.commits(nowMs * 1_000_000);
            ofThread.committed((nowMs + commitTakesMs) * 1_000_000, nowMs + commitTakesMs);
        }
    }

    /** Something every so many milliseconds, and after each commit the time that it takes. */
    private void takeUntil(long end, long everyMs) {
        long now = Math.max(1000, nowMs);
        while (now < end) {
            int before = commits.size();
            nowMs = now;
            policy.taken(now);
            if (awaited) {
                policy.awaited();
            } else {
                policy.sent();
            }
            makeCommit();
            now += everyMs + (commits.size() > before ? commitTakesMs : 0);
        }
    }

    private static List<Long> apart(List<Long> times) {
        List<Long> gaps = new ArrayList<>();
        for (int i = 1; i < times.size(); i++) {
            gaps.add(times.get(i) - times.get(i - 1));
        }
        return gaps;
    }

    private void take(long now, boolean somebodyWaits) {
        nowMs = now;
        policy.taken(now);
        if (somebodyWaits) {
            policy.awaited();
        }
        makeCommit();
    }

    private void pass(long now) {
        nowMs = now;
        policy.timePassed(now);
        makeCommit();
    }
}
