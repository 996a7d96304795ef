package dev.millrace.gateway.rest.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WriteBudgetTest {
    private final WriteBudget budget = new WriteBudget(10);
    private final AtomicInteger cuts = new AtomicInteger();

    @Test
    void shouldWaitForThoseThatAreSoonDoneAndCutNobody() throws Exception {
        // given
        WriteBudget.Hold first = budget.hold(10, cuts::incrementAndGet);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {

            // when
            Future<WriteBudget.Hold> second = threads.submit(() -> budget.hold(1, cuts::incrementAndGet));
            Thread.sleep(100);
            boolean waited = !second.isDone();
            first.close();

            // then
            second.get().close();
            assertThat(waited).isTrue();
            assertThat(cuts).hasValue(0);
            assertThat(budget.held()).isZero();
        }
    }

    @Test
    void shouldCutTheOneThatTakesTooLongWhenSomebodyNeedsTheRoom() throws Exception {
        // given
        WriteBudget.Hold stuck = budget.hold(10, cuts::incrementAndGet);
        long begun = System.nanoTime();

        // when
        WriteBudget.Hold other = budget.hold(10, () -> {});

        // then
        assertThat(cuts).hasValue(1);
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(WriteBudget.GRACE.multipliedBy(30));
        stuck.close(); // by now it has nothing to give back
        assertThat(budget.held()).isEqualTo(10);
        other.close();
        assertThat(budget.held()).isZero();
    }

    @Test
    void shouldLetMoreThanFitsHaveItAllForItself() throws Exception {
        budget.hold(1_000, cuts::incrementAndGet).close();

        assertThat(budget.held()).isZero();
    }
}
