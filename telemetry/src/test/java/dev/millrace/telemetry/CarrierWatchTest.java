package dev.millrace.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CarrierWatchTest {

    private static final Duration TICK = Duration.ofMillis(5);

    @Test
    void shouldNoticeThatVirtualThreadsDoNotRun() throws InterruptedException {
        // given
        AtomicBoolean end = new AtomicBoolean();
        List<Thread> endless = new ArrayList<>();
        try (CarrierWatch watch = new CarrierWatch(probe -> Thread.ofVirtual().start(probe), TICK, 20)) {
            watch.start();
            assertThat(watch.isTurning()).isTrue();
            // when: as many as there can be carriers
            for (int i = 0; i < 256 && watch.isTurning(); i++) {
                endless.add(Thread.ofVirtual().start(() -> {
                    while (!end.get()) {
                        Thread.onSpinWait();
                    }
                }));
            }
            // then
            await(() -> !watch.isTurning());
            end.set(true);
            await(watch::isTurning);
        } finally {
            end.set(true);
        }
        for (Thread thread : endless) {
            thread.join();
        }
    }

    @Test
    void shouldBePatient() throws InterruptedException {
        // given: a probe that runs when it is let
        LinkedBlockingQueue<Runnable> probes = new LinkedBlockingQueue<>();
        try (CarrierWatch watch = new CarrierWatch(probes::add, TICK, 1_000_000)) {
            watch.start();
            // when
            Runnable probe = probes.poll(10, TimeUnit.SECONDS);
            // then: no second one before the first has run
            assertThat(probes.poll(100, TimeUnit.MILLISECONDS)).isNull();
            assertThat(watch.isTurning()).isTrue();
            assertThat(probe).isNotNull();
            probe.run();
            assertThat(probes.poll(10, TimeUnit.SECONDS)).isNotNull();
        }
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }
}
