package dev.millrace.gateway.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.gateway.kafka.ListenerDroppedException.Reason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class MailboxTest {

    @Test
    void shouldRefuseWhatDoesNotFitAndTakeItOnceThereIsRoom() throws Exception {
        // given
        Mailbox mailbox = mailbox(10);
        assertThat(mailbox.offer(Letters.at(0, 6))).isTrue();
        assertThat(mailbox.offer(Letters.at(1, 5))).isFalse();
        assertThat(mailbox.offer(Letters.at(1, 4))).isTrue();

        // when
        mailbox.take(Duration.ZERO);

        // then
        assertThat(mailbox.offer(Letters.at(2, 6))).isTrue();
        assertThat(Letters.offsets(mailbox)).containsExactly(1L, 2L);
    }

    @Test
    void shouldTakeALetterOfAnySizeWhenItIsEmpty() {
        assertThat(mailbox(10).offer(Letters.at(0, 1_000))).isTrue();
    }

    @Test
    void shouldGiveUpOnAListenerThatTakesNothingAndNotOnOneThatTakesALittle() throws Exception {
        // given
        Mailbox mailbox = mailbox(10);
        mailbox.offer(Letters.at(0, 5));
        mailbox.offer(Letters.at(1, 5));

        // when
        boolean tooLate = mailbox.awaitRoom(Duration.ofMillis(20));
        Thread waiting = Thread.currentThread();
        Thread taker = Thread.ofPlatform().start(() -> {
            try {
                // what is taken before somebody waits is not what the wait is for
                while (waiting.getState() != Thread.State.TIMED_WAITING) {
                    Thread.onSpinWait();
                }
                mailbox.take(Duration.ZERO);
            } catch (InterruptedException | ListenerDroppedException e) {
                throw new AssertionError(e);
            }
        });
        boolean inTime = mailbox.awaitRoom(Duration.ofSeconds(10));
        taker.join();

        // then
        assertThat(tooLate).isFalse();
        assertThat(inTime).isTrue();
    }

    @Test
    void shouldKeepAsideNoMoreThanItMayForAllPartitionsTogether() throws Exception {
        // given
        Mailbox mailbox = mailbox(10);

        // when
        boolean first = mailbox.setAside(0, Letters.at(0, 6));
        boolean atLimit = mailbox.setAside(1, Letters.at(1, 4));
        boolean beyond = mailbox.setAside(2, Letters.at(2, 1));

        // then
        assertThat(first).isTrue();
        assertThat(atLimit).isTrue();
        assertThat(beyond).isFalse();
        assertThat(mailbox.weight()).isEqualTo(10);
    }

    @Test
    void shouldEvictTheOneThatLagsMostWhenAllTogetherHaveTooMuch() throws Exception {
        // given
        MailboxBudget budget = new MailboxBudget(20);
        Mailbox slow = new Mailbox(100, 100, budget, () -> {});
        Mailbox quick = new Mailbox(100, 100, budget, () -> {});
        assertThat(slow.offer(Letters.at(0, 12))).isTrue();
        assertThat(slow.setAside(0, Letters.at(1, 4))).isTrue();
        assertThat(quick.offer(Letters.at(2, 4))).isTrue();

        // when
        boolean taken = quick.offer(Letters.at(3, 1));

        // then
        assertThat(taken).isTrue();
        assertThat(budget.held()).isEqualTo(5);
        assertThat(Letters.offsets(quick)).containsExactly(2L, 3L);
        assertThatThrownBy(() -> slow.take(Duration.ZERO))
                .isInstanceOfSatisfying(
                        ListenerDroppedException.class,
                        dropped -> assertThat(dropped.reason()).isEqualTo(Reason.TOO_SLOW));
    }

    @Test
    void shouldRefuseAnEntryWhenNobodyLagsMore() {
        // given
        MailboxBudget budget = new MailboxBudget(20);
        Mailbox slow = new Mailbox(100, 100, budget, () -> {});
        Mailbox quick = new Mailbox(100, 100, budget, () -> {});
        slow.offer(Letters.at(0, 12));
        quick.offer(Letters.at(1, 8));

        // when
        boolean taken = slow.offer(Letters.at(2, 1));

        // then
        assertThat(taken).isFalse();
        assertThat(budget.held()).isEqualTo(20);
        assertThat(quick.isOver()).isFalse();
    }

    @Test
    void shouldCountALetterThatIsInManyMailboxesOnce() throws Exception {
        // given
        MailboxBudget budget = new MailboxBudget(20);
        List<Mailbox> all = List.of(
                new Mailbox(100, 100, budget, () -> {}),
                new Mailbox(100, 100, budget, () -> {}),
                new Mailbox(100, 100, budget, () -> {}));
        Mailbox.Letter letter = Letters.at(0, 15);

        // when
        all.forEach(mailbox -> mailbox.offer(letter));
        long held = budget.held();
        all.get(0).take(Duration.ZERO);
        all.get(1).close();
        long heldByOne = budget.held();
        all.get(2).take(Duration.ZERO);

        // then
        assertThat(held).isEqualTo(15);
        assertThat(heldByOne).isEqualTo(15);
        assertThat(budget.held()).isZero();
    }

    @Test
    void shouldGiveWhatIsThereBeforeItSaysThatItWasDropped() throws Exception {
        // given
        Mailbox mailbox = mailbox(10);
        mailbox.offer(Letters.at(7, 1));

        // when
        mailbox.drop(new ListenerDroppedException(Reason.TOO_SLOW));

        // then
        assertThat(mailbox.offer(Letters.at(8, 1))).isTrue();
        assertThat(mailbox.take(Duration.ZERO)).isNotNull();
        assertThatThrownBy(() -> mailbox.take(Duration.ofSeconds(5)))
                .isInstanceOfSatisfying(
                        ListenerDroppedException.class,
                        dropped -> assertThat(dropped.reason()).isEqualTo(Reason.TOO_SLOW));
    }

    @Test
    void shouldSwallowEverythingOnceClosed() throws Exception {
        // given
        Mailbox mailbox = mailbox(10);
        mailbox.offer(Letters.at(0, 1));

        // when
        mailbox.close();

        // then
        assertThat(mailbox.offer(Letters.at(1, 100))).isTrue();
        assertThat(mailbox.setAside(0, Letters.at(2, 100))).isTrue();
        assertThat(Letters.offsets(mailbox)).isEmpty();
        assertThat(mailbox.isOver()).isTrue();
    }

    private static Mailbox mailbox(int capacity) {
        return new Mailbox(capacity, capacity, new MailboxBudget(Long.MAX_VALUE), () -> {});
    }
}
