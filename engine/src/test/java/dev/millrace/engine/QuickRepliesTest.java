package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class QuickRepliesTest {

    private static final long NOW = Long.MAX_VALUE - 1_000; // as System.nanoTime may say, which then begins anew

    private final QuickReplies replies = new QuickReplies(NOW);

    @Test
    void shouldBeWaitedForAfterAPollUntilRecordsHaveWaitedLongEnough() {
        long late = NOW + QuickReplies.POLLED_WITHIN.toNanos();

        assertThat(replies.mayCome(NOW)).isTrue();
        assertThat(replies.mayCome(late - 1)).isTrue();
        assertThat(replies.mayCome(late)).isFalse();

        replies.polled(late);
        assertThat(replies.mayCome(late)).isTrue();
    }

    @Test
    void shouldNotBeWaitedForForAWhileWhenNoneCame() {
        long later = NOW + QuickReplies.SLOW_FOR.toNanos();
        replies.areSlow(NOW);

        assertThat(replies.mayCome(NOW)).isFalse();
        replies.polled(later - 1);
        assertThat(replies.mayCome(later - 1)).isFalse();
        assertThat(replies.mayCome(later)).isTrue();
    }
}
