package dev.millrace.requests;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PollTurnsTest {

    private final AtomicLong nanos = new AtomicLong();
    private final PollTurns turns = new PollTurns(64, Duration.ofSeconds(60), nanos::get);

    @Test
    void shouldLetOnlyOnePollAtATime() {
        // given
        PollTurns.Seat large = turns.enter(64);
        PollTurns.Seat small = turns.enter(16);
        // when
        boolean first = turns.tryTake(large);
        boolean second = turns.tryTake(small);
        // then
        assertThat(first).isTrue();
        assertThat(second).isFalse();
    }

    @Test
    void shouldNotPollForMoreThanThereArePermits() {
        // given
        PollTurns.Seat large = turns.enter(64);
        PollTurns.Seat second = turns.enter(64);
        turns.tryTake(large);
        turns.taken(large, 1);
        pass(Duration.ofSeconds(1));
        // when
        boolean taken = turns.tryTake(second);
        // then
        assertThat(taken).isFalse();
        assertThat(turns.running()).isEqualTo(1);
    }

    @Test
    void shouldLetASmallerOneTakeOverWhenALargerOneIsHeldUp() {
        // given
        PollTurns.Seat large = turns.enter(64);
        PollTurns.Seat small = turns.enter(16);
        turns.tryTake(large);
        turns.taken(large, 1);
        // when
        boolean atOnce = turns.tryTake(small);
        pass(PollTurns.PATIENCE);
        boolean later = turns.tryTake(small);
        // then
        assertThat(atOnce).isFalse();
        assertThat(later).isTrue();
    }

    @Test
    void shouldBeMorePatientWithABatchWhoseJobsAreDone() {
        // given
        PollTurns.Seat large = turns.enter(64);
        PollTurns.Seat small = turns.enter(16);
        turns.tryTake(large);
        turns.taken(large, 1);
        turns.finished(large);
        // when
        pass(PollTurns.PATIENCE);
        boolean soon = turns.tryTake(small);
        pass(PollTurns.PATIENCE.multipliedBy(3));
        boolean late = turns.tryTake(small);
        // then
        assertThat(soon).isFalse();
        assertThat(late).isTrue();
    }

    @Test
    void shouldPreferTheLargerOfThoseThatWait() {
        // given
        PollTurns.Seat other = turns.enter(4);
        PollTurns.Seat small = turns.enter(16);
        PollTurns.Seat large = turns.enter(64);
        turns.tryTake(other);
        turns.tryTake(small);
        turns.tryTake(large);
        turns.taken(other, 0);
        // when
        boolean smallFirst = turns.tryTake(small);
        boolean largeFirst = turns.tryTake(large);
        // then
        assertThat(smallFirst).isFalse();
        assertThat(largeFirst).isTrue();
    }

    @Test
    void shouldNeedOneOfTheFullSizeFirst() {
        // when
        int size = turns.need();
        // then
        assertThat(size).isEqualTo(64);
    }

    @Test
    void shouldNeedAnotherWhenAllAreHeldUpAndPermitsAreFree() {
        // given
        PollTurns.Seat large = turns.enter(64);
        turns.tryTake(large);
        turns.taken(large, 1);
        // when
        int atOnce = turns.need();
        pass(PollTurns.GROWTH_PATIENCE);
        int later = turns.need();
        // then
        assertThat(atOnce).isZero();
        assertThat(later).isEqualTo(16);
    }

    @Test
    void shouldNeedNobodyWhileAnotherIsOnItsWay() {
        // given
        PollTurns.Seat large = turns.enter(64);
        turns.tryTake(large);
        turns.taken(large, 1);
        pass(PollTurns.GROWTH_PATIENCE);
        turns.enter(16);
        // when
        int size = turns.need();
        // then
        assertThat(size).isZero();
    }

    @Test
    void shouldNeedNobodyWithoutPermits() {
        // given
        PollTurns.Seat large = turns.enter(64);
        turns.tryTake(large);
        turns.taken(large, 64);
        pass(Duration.ofMinutes(1));
        // when
        int size = turns.need();
        // then
        assertThat(size).isZero();
        assertThat(turns.running()).isEqualTo(64);
    }

    @Test
    void shouldNeedASmallOneForTheLastPermit() {
        // given
        PollTurns.Seat large = turns.enter(64);
        turns.tryTake(large);
        turns.taken(large, 63);
        pass(Duration.ofMinutes(1));
        // when
        int size = turns.need();
        // then
        assertThat(size).isEqualTo(1);
    }

    @Test
    void shouldGiveThePermitsBackWithTheSeatOfOneThatFailed() {
        // given
        PollTurns.Seat large = turns.enter(64);
        turns.tryTake(large);
        turns.leave(large);
        PollTurns.Seat next = turns.enter(64);
        // when
        boolean taken = turns.tryTake(next);
        // then
        assertThat(taken).isTrue();
    }

    @Test
    void shouldDismissWhoIsOfNoUseButKeepTwo() throws InterruptedException {
        // given
        PollTurns.Seat large = turns.enter(64);
        PollTurns.Seat small = turns.enter(16);
        PollTurns.Seat third = turns.enter(4);
        turns.tryTake(large);
        turns.tryTake(third);
        pass(Duration.ofSeconds(60));
        // when
        boolean kept = turns.awaitTake(third);
        turns.leave(third);
        // then
        assertThat(kept).isFalse();
        assertThat(turns.seats()).isEqualTo(2);
        assertThat(turns.tryTake(small)).isFalse();
    }

    @Test
    void shouldGiveNoTurnsAfterTheEnd() throws InterruptedException {
        // given
        PollTurns.Seat large = turns.enter(64);
        turns.close();
        // when
        boolean taken = turns.awaitTake(large);
        // then
        assertThat(taken).isFalse();
        assertThat(turns.need()).isZero();
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }
}
