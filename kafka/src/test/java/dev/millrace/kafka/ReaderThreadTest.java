package dev.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.junit.jupiter.api.Test;

class ReaderThreadTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    @Test
    void shouldSayWhyItFailedAndBeginAgain() throws Exception {
        // given
        AtomicInteger begun = new AtomicInteger();
        CountDownLatch stop = new CountDownLatch(1);
        CountDownLatch mend = new CountDownLatch(1);
        AtomicReference<ReaderThread> self = new AtomicReference<>();
        ReaderThread thread = new ReaderThread("reader", () -> new MockConsumer<>("none"), LIMIT, consumer -> {
            if (begun.incrementAndGet() == 1) {
                throw new NoClassDefFoundError("a defect");
            }
            mend.await();
            self.get().works();
            stop.await();
        });
        self.set(thread);

        // when
        thread.start();

        // then
        await().atMost(LIMIT).until(() -> begun.get() == 2);
        assertThat(thread.problem()).hasValueSatisfying(why -> assertThat(why).contains("reader", "a defect"));
        mend.countDown();
        await().atMost(LIMIT).until(() -> thread.problem().isEmpty());
        stop.countDown();
        thread.close();
    }
}
