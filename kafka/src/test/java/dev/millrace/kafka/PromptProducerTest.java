package dev.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PromptProducerTest {

    private final AtomicLong nanos = new AtomicLong(-5);
    private final Rush rush = new Rush(nanos::get, PromptProducer.GATHERED_FOR.toNanos(), PromptProducer.FEW);

    @Test
    void shouldTakeAFewAtOnceForFew() {
        for (int i = 0; i < PromptProducer.FEW; i++) {
            assertThat(rush.another()).isFalse();
        }

        assertThat(rush.another()).isTrue();
    }

    @Test
    void shouldNeverCallASlowStreamMany() {
        for (int i = 0; i < 100; i++) {
            pass(Duration.ofMillis(7));

            assertThat(rush.another()).isFalse();
        }
    }

    /** Two replies each, in six milliseconds, each of which the task waits for. */
    @Test
    void shouldNotGatherWhatOneQuickTaskAfterTheOtherHas() {
        for (int i = 0; i < 100; i++) {
            pass(Duration.ofMillis(2));
            assertThat(rush.another()).isFalse();
            pass(Duration.ofMillis(4));
            assertThat(rush.another()).isFalse();
        }
    }

    @Test
    void shouldRememberARushForOneWindowMore() {
        for (int i = 0; i < 2 * PromptProducer.FEW; i++) {
            rush.another();
        }

        pass(PromptProducer.GATHERED_FOR);
        assertThat(rush.another()).isTrue();
        pass(PromptProducer.GATHERED_FOR);
        assertThat(rush.another()).isFalse();
    }

    @Test
    void shouldForgetARushAfterAPause() {
        for (int i = 0; i < 2 * PromptProducer.FEW; i++) {
            rush.another();
        }

        pass(PromptProducer.GATHERED_FOR.multipliedBy(2));

        assertThat(rush.another()).isFalse();
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }
}
