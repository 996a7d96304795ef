package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CommitTimesTest {

    private static final Duration LIMIT = Duration.ofMillis(100);

    private final CommitTimes times = new CommitTimes();
    private int commits;
    private int rowsSent;
    private int underWay;
    private final CommitTiming first = machine();
    private final CommitTiming second = machine();

    @Test
    void shouldWaitAsLongAsItMayWhenNothingIsDue() {
        assertThat(times.waiting(LIMIT, 5_000)).isEqualTo(LIMIT);
    }

    @Test
    void shouldWaitUntilTheFirstIsDue() {
        first.taken(5_000);
        first.awaited(); // at once
        times.commits(0);
        first.sent(); // due 20 ms after that
        second.taken(5_010);
        second.sent();

        assertThat(times.waiting(LIMIT, 5_012)).isEqualTo(Duration.ofMillis(8));
    }

    @Test
    void shouldCommitForAllMachinesOfTheThread() {
        first.taken(5_000);
        first.sent();
        second.taken(5_010);
        second.awaited();

        assertThat(commits).isOne();
        times.commits(0);
        assertThat(times.waiting(LIMIT, 5_030)).isEqualTo(LIMIT);
        first.timePassed(5_030);
        assertThat(commits).isOne();
    }

    @Test
    void shouldGatherWhileRecordsAreStillToBeTaken() {
        times.waited(5_000, 5);

        for (int i = 0; i < 2; i++) {
            first.taken(5_000);
            first.awaited();
        }
        assertThat(commits).isZero();
        first.taken(5_001);

        assertThat(commits).isOne(); // two more are little
    }

    @Test
    @DisplayName("what is under way on any of the thread's partitions is gathered, and nothing else")
    void shouldGatherForAllMachinesOfTheThread() {
        underWay = 2; // of each of them
        first.taken(5_000);
        first.awaited();
        assertThat(commits).isZero();

        second.timePassed(5_004);
        first.timePassed(5_004);

        assertThat(commits).isOne();
    }

    @Test
    void shouldNotTakeRecordsForThingsUnderWayThatWereDropped() {
        times.waited(5_000, 50);
        times.waited(5_001, 0);

        first.taken(5_001);
        first.awaited();

        assertThat(commits).isOne();
    }

    @Test
    void shouldWaitLongEnoughForOthersToWorkWhenSomethingIsLate() {
        first.taken(5_000);
        first.sent();

        assertThat(times.waiting(LIMIT, 5_030)).isEqualTo(Duration.ofMillis(1));
    }

    @Test
    void shouldForgetMachinesThatAreClosed() {
        first.taken(5_000);
        first.sent();
        assertThat(times.waiting(LIMIT, 9_000)).isEqualTo(Duration.ofMillis(1));

        first.close();

        assertThat(times.waiting(LIMIT, 9_000)).isEqualTo(LIMIT);
    }

    @Test
    @DisplayName("a commit that Streams makes in several calls counts once, from the first of them")
    void shouldMeasureCommits() {
        times.commits(0);
        times.commits(3_000_000);
        times.committed(4_000_000, 5_000);

        assertThat(rowsSent).isEqualTo(4);
        assertThat(times.costMs()).isEqualTo(1); // a quarter of it, and nothing before
        assertThat(times.committedMs()).isEqualTo(5_000);
    }

    @Test
    @DisplayName("what was begun in a turn before and not committed is no part of the next commit")
    void shouldNotMeasureWhatWasNotCommitted() {
        times.commits(0);
        times.waited(5_000, 0);
        times.commits(60_000_000);
        times.committed(64_000_000, 5_064);

        assertThat(times.costMs()).isEqualTo(1);
    }

    @Test
    void shouldNotWaitLongerOnceSomethingIsHandedOver() throws Exception {
        Inbox<String> inbox = new Inbox<>();
        Inbox.Box<String> box = inbox.open(0, record -> false); // this thread's own times
        CommitTimes own = CommitTimes.ofThread();
        assertThat(own.awaitHanded(Duration.ofMillis(1))).isFalse();

        Thread other = Thread.ofPlatform().start(() -> inbox.offer(0, "reply"));

        assertThat(own.awaitHanded(Duration.ofSeconds(30))).isTrue();
        assertThat(own.awaitHanded(Duration.ofSeconds(30))).isTrue();
        other.join();
        assertThat(box.poll()).isEqualTo("reply");
        assertThat(own.awaitHanded(Duration.ZERO)).isFalse();
        box.close();
    }

    @Test
    @DisplayName(
            "the thread's clock is ahead only while something waits that this millisecond's punctuation has missed")
    void shouldBeAheadForWhatIsHandedOver() {
        Inbox<String> inbox = new Inbox<>();
        Inbox.Box<String> box = inbox.open(0, record -> false);
        times.add(box);
        assertThat(times.clock(1_000)).isEqualTo(1_000);
        times.punctuated(1_000);
        assertThat(times.clock(1_000)).isEqualTo(1_000);
        inbox.offer(0, "reply");

        assertThat(times.clock(1_000)).isEqualTo(1_001);
        assertThat(times.clock(1_000)).isEqualTo(1_001);
        assertThat(times.takes(1_000)).isTrue();
        times.punctuated(1_001);
        box.poll();
        assertThat(times.clock(1_000)).isEqualTo(1_001); // it does not go back
        assertThat(times.clock(1_001)).isEqualTo(1_001);
        assertThat(times.clock(1_002)).isEqualTo(1_002);
        box.close();
    }

    @Test
    void shouldNotBeFarAhead() {
        Inbox<String> inbox = new Inbox<>();
        Inbox.Box<String> box = inbox.open(0, record -> false);
        times.add(box);
        inbox.offer(0, "reply");
        times.punctuated(times.clock(1_000));
        times.punctuated(times.clock(1_000));
        assertThat(times.takes(1_000)).isTrue();
        times.punctuated(times.clock(1_000));

        assertThat(times.clock(1_000)).isEqualTo(1_000 + CommitTimes.AHEAD_MS);
        assertThat(times.takes(1_000)).isFalse();
        assertThat(times.takes(1_001)).isTrue();
        box.close();
    }

    @Test
    void shouldFollowAClockThatIsSetBack() {
        assertThat(times.clock(3_600_000)).isEqualTo(3_600_000);

        assertThat(times.clock(1_000)).isEqualTo(1_000);
    }

    private CommitTiming machine() {
        return new CommitTiming(() -> commits++, Duration.ofMillis(20), times, () -> underWay, () -> rowsSent++);
    }
}
