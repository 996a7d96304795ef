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
        Mailbox mailbox = new Mailbox(10);
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
        assertThat(new Mailbox(10).offer(Letters.at(0, 1_000))).isTrue();
    }

    @Test
    void shouldGiveUpWaitingForRoom() throws Exception {
        // given
        Mailbox mailbox = new Mailbox(10);
        mailbox.offer(Letters.at(0, 10));

        // when
        boolean taken = mailbox.offer(Letters.at(1, 1), Duration.ofMillis(20));

        // then
        assertThat(taken).isFalse();
    }

    @Test
    void shouldGiveWhatIsThereBeforeItSaysThatItWasDropped() throws Exception {
        // given
        Mailbox mailbox = new Mailbox(10);
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
        Mailbox mailbox = new Mailbox(10);
        mailbox.offer(Letters.at(0, 1));

        // when
        mailbox.close();

        // then
        assertThat(mailbox.offer(Letters.at(1, 100), Duration.ofSeconds(5))).isTrue();
        mailbox.addAll(List.of(Letters.at(2, 1)));
        assertThat(Letters.offsets(mailbox)).isEmpty();
        assertThat(mailbox.isOver()).isTrue();
    }
}
