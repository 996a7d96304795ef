package dev.millrace.gateway.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class FeedTest {
    private static final JournalFilter ALL = labels -> true;

    private final Mailbox mailbox = mailbox(1_000, 100);

    @Test
    void shouldBeLiveAtOnceWhenItBeginsWhereTheTailIs() throws Exception {
        // given
        Feed feed = new Feed(0, 5, ALL, mailbox);

        // when
        boolean backfill = feed.begin(5);
        feed.live(Letters.at(5, 1));
        feed.live(Letters.at(6, 1));

        // then
        assertThat(backfill).isFalse();
        assertThat(Letters.offsets(mailbox)).containsExactly(5L, 6L);
    }

    @Test
    void shouldPassOverWhatLiesBeforeItsBeginning() throws Exception {
        // given
        Feed feed = new Feed(0, 7, ALL, mailbox);
        feed.begin(5);

        // when
        LongStream.range(5, 9).forEach(offset -> feed.live(Letters.at(offset, 1)));

        // then
        assertThat(Letters.offsets(mailbox)).containsExactly(7L, 8L);
    }

    @Test
    void shouldKeepLiveEntriesAsideUntilTheBackfillIsThere() throws Exception {
        // given
        Feed feed = new Feed(0, 0, ALL, mailbox);
        assertThat(feed.begin(2)).isTrue();
        feed.live(Letters.at(2, 1));
        feed.live(Letters.at(4, 1));
        assertThat(Letters.offsets(mailbox)).isEmpty();

        // when
        mailbox.offer(Letters.at(0, 1));
        boolean over = feed.backfilledUpTo(1);
        mailbox.offer(Letters.at(1, 1));
        boolean overThen = feed.backfilledUpTo(2);
        feed.live(Letters.at(5, 1));

        // then
        assertThat(over).isFalse();
        assertThat(overThen).isTrue();
        assertThat(Letters.offsets(mailbox)).containsExactly(0L, 1L, 2L, 4L, 5L);
    }

    @Test
    void shouldLetTheBackfillGoFurtherWhenTooMuchIsKeptAside() throws Exception {
        // given
        Mailbox narrow = mailbox(1_000, 2);
        Feed feed = new Feed(0, 0, ALL, narrow);
        feed.begin(1);
        LongStream.range(1, 4).forEach(offset -> feed.live(Letters.at(offset, 1)));

        // when
        narrow.offer(Letters.at(0, 1));
        boolean over = feed.backfilledUpTo(1);
        feed.live(Letters.at(4, 1));
        for (long offset = 1; offset < 4; offset++) {
            assertThat(feed.backfilledUpTo(offset)).isFalse();
            narrow.offer(Letters.at(offset, 1));
        }
        boolean overThen = feed.backfilledUpTo(4);

        // then
        assertThat(over).isFalse();
        assertThat(overThen).isTrue();
        assertThat(Letters.offsets(narrow)).containsExactly(0L, 1L, 2L, 3L, 4L);
    }

    @Test
    void shouldDropAListenerThatIsTooSlow() {
        // given
        Feed feed = new Feed(0, 0, ALL, mailbox(2, 100));
        feed.begin(0);

        // when
        LongStream.range(0, 3).forEach(offset -> feed.live(Letters.at(offset, 1)));

        // then
        assertThat(feed.mailbox().isOver()).isTrue();
        assertThatThrownBy(() -> Letters.offsets(feed.mailbox())).isInstanceOf(ListenerDroppedException.class);
    }

    /** The tail and the backfill take turns as chance has it; whatever it has, the listener gets each entry once. */
    @RepeatedTest(200)
    void shouldGiveEachEntryOnceHoweverTailAndBackfillInterleave(RepetitionInfo repetition) throws Exception {
        // given
        Random random = new Random(repetition.getCurrentRepetition());
        int total = 60;
        int tailFrom = random.nextInt(total);
        int from = random.nextInt(total);
        Mailbox box = mailbox(1_000, 1 + random.nextInt(10));
        Feed feed = new Feed(0, from, ALL, box);
        boolean backfilling = feed.begin(tailFrom);
        List<Long> got = new ArrayList<>();

        // when
        long backfill = from;
        long tail = tailFrom;
        while (backfilling || tail < total) {
            if (tail < total && (random.nextBoolean() || !backfilling)) {
                feed.live(Letters.at(tail++, 1));
            } else if (backfilling) {
                backfilling = !feed.backfilledUpTo(backfill);
                if (backfilling) {
                    assertThat(box.offer(Letters.at(backfill++, 1))).isTrue();
                }
            }
            if (random.nextInt(10) == 0) {
                got.addAll(Letters.offsets(box));
            }
        }
        got.addAll(Letters.offsets(box));

        // then
        assertThat(got)
                .as("seed %d", repetition.getCurrentRepetition())
                .containsExactlyElementsOf(LongStream.range(from, total).boxed().toList());
    }

    @Test
    void shouldTellAllThatComesAfterItsPartitionWasMadeAgain() throws Exception {
        // given
        Feed live = new Feed(0, 900, ALL, mailbox);
        live.begin(900);
        Mailbox other = mailbox(1_000, 100);
        Feed backfilling = new Feed(0, 100, ALL, other);
        backfilling.begin(900);
        backfilling.live(Letters.at(900, 1));

        // when
        live.restart(0);
        backfilling.restart(0);
        for (Feed feed : List.of(live, backfilling)) {
            feed.live(Letters.at(0, 1));
            feed.live(Letters.at(1, 1));
        }

        // then
        assertThat(Letters.offsets(mailbox)).containsExactly(0L, 1L);
        assertThat(Letters.offsets(other)).containsExactly(0L, 1L);
        assertThat(backfilling.backfilledUpTo(150)).isTrue();
    }

    private static Mailbox mailbox(int capacity, int asideCapacity) {
        return new Mailbox(capacity, asideCapacity, new MailboxBudget(Long.MAX_VALUE), () -> {});
    }
}
