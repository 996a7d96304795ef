package dev.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.MalformedEventException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RecordLoopTest {

    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final int LIMIT_S = 20;

    private final BlockingQueue<String> taken = new LinkedBlockingQueue<>();
    private final List<Map<TopicPartition, Long>> begun = new ArrayList<>();
    private final CountDownLatch broken = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private volatile @Nullable TopicId topic = new TopicId("c", "t");

    @Test
    void shouldLeaveOutWhatCannotBeTaken() throws Exception {
        try (RecordLoop loop = loop(consumer -> {
            add(consumer, 0, "a");
            add(consumer, 1, "malformed");
            add(consumer, 2, "defect");
            add(consumer, 3, "deep");
            consumer.addRecord(new ConsumerRecord<>("t", 0, 4, null, null));
            add(consumer, 5, "b");
        })) {
            loop.start();

            assertThat(next()).isEqualTo("a");
            assertThat(next()).isEqualTo("b");
            assertThat(loop.skipped()).isEqualTo(4);
            assertThat(loop.problem()).isEmpty();
        }
    }

    @Test
    void shouldBeginAgainWhereItWasAndSayWhyMeanwhile() throws Exception {
        try (RecordLoop loop = loop(consumer -> {
            add(consumer, begun.size(), "r" + begun.size());
            if (begun.isEmpty()) {
                consumer.schedulePollTask(() -> {});
                consumer.schedulePollTask(() -> {
                    throw new IllegalStateException("of our own");
                });
            } else if (begun.size() == 1) {
                consumer.schedulePollTask(() -> {});
                consumer.schedulePollTask(() -> consumer.setPollException(new KafkaException("of theirs")));
            }
        })) {
            loop.start();

            assertThat(next()).isEqualTo("r0");
            assertThat(broken.await(LIMIT_S, TimeUnit.SECONDS)).isTrue();
            assertThat(loop.problem()).hasValueSatisfying(why -> assertThat(why).contains("reader", "of our own"));
            goOn.countDown();
            assertThat(next()).isEqualTo("r1");
            assertThat(next()).isEqualTo("r2");
            assertThat(begun).containsExactly(Map.of(), Map.of(PARTITION, 1L), Map.of(PARTITION, 2L));
        }
    }

    @Test
    void shouldSayThatItsThreadHasEnded() throws Exception {
        try (RecordLoop loop = loop(consumer -> consumer.schedulePollTask(() -> {
            throw new AssertionError("nothing that can be survived");
        }))) {
            loop.start();

            for (int i = 0; loop.problem().isEmpty() && i < LIMIT_S * 100; i++) {
                broken.await(10, TimeUnit.MILLISECONDS);
            }
            assertThat(loop.problem()).contains("reader: its thread has ended");
        }
    }

    @Test
    void shouldBeginAnewWhenTheTopicWasMadeAgainWhileItCouldNotRead() throws Exception {
        try (RecordLoop loop = loop(consumer -> {
            add(consumer, 0, "r" + begun.size());
            if (begun.isEmpty()) {
                consumer.schedulePollTask(() -> {});
                consumer.schedulePollTask(() -> {
                    topic = new TopicId("c", "made later");
                    throw new KafkaException("of theirs");
                });
            }
        })) {
            goOn.countDown();
            loop.start();

            assertThat(next()).isEqualTo("r0");
            assertThat(next()).isEqualTo("begins anew");
            assertThat(next()).isEqualTo("r1");
            assertThat(begun).containsExactly(Map.of(), Map.of());
        }
    }

    @Test
    void shouldBeginAnewWhereWhatItWasToGoOnWithIsGone() throws Exception {
        try (RecordLoop loop = loop(consumer -> {
            add(consumer, 0, "r" + begun.size());
            if (begun.isEmpty()) {
                consumer.schedulePollTask(() -> {});
                consumer.schedulePollTask(
                        () -> consumer.setPollException(new OffsetOutOfRangeException(Map.of(PARTITION, 1L))));
            }
        })) {
            goOn.countDown();
            loop.start();

            assertThat(next()).isEqualTo("r0");
            assertThat(next()).isEqualTo("begins anew");
            assertThat(next()).isEqualTo("r1");
            assertThat(begun).containsExactly(Map.of(), Map.of());
        }
    }

    @Test
    void shouldReadNothingBeforeItKnowsWhichTopicItIs() throws Exception {
        topic = null;
        try (RecordLoop loop = loop(consumer -> add(consumer, 0, "r"))) {
            loop.start();

            for (int i = 0; loop.problem().isEmpty() && i < LIMIT_S * 100; i++) {
                broken.await(10, TimeUnit.MILLISECONDS);
            }
            assertThat(loop.problem()).hasValueSatisfying(why -> assertThat(why).contains("the topic is not there"));
            assertThat(taken).isEmpty();
            topic = new TopicId("c", "t");
            assertThat(next()).isEqualTo("r");
        }
    }

    @Test
    void shouldTellThatItEndsAlsoWhereItIsClosedWhileItLooks() throws Exception {
        AtomicReference<@Nullable RecordLoop> itself = new AtomicReference<>();
        RecordLoop loop = loop(consumer -> {
            add(consumer, 0, "a");
            consumer.schedulePollTask(() -> {});
            consumer.schedulePollTask(() -> {
                Thread.currentThread().interrupt(); // so that it does not wait for itself
                Objects.requireNonNull(itself.get()).close();
                assertThat(Thread.interrupted()).isTrue();
            });
        });
        itself.set(loop);
        loop.start();

        assertThat(next()).isEqualTo("a");
        assertThat(next()).isEqualTo("ends");
        assertThat(begun).hasSize(1);
    }

    private RecordLoop loop(Consumer<MockConsumer<byte[], byte[]>> script) {
        return new RecordLoop(
                "reader",
                () -> {
                    MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("none");
                    consumer.updateBeginningOffsets(Map.of(PARTITION, 0L));
                    consumer.updateEndOffsets(Map.of(PARTITION, 100L));
                    consumer.assign(List.of(PARTITION));
                    consumer.seek(PARTITION, 0);
                    if (begun.size() == 1) {
                        awaitTest();
                    }
                    script.accept(consumer);
                    return consumer;
                },
                new TopicIdentity() {
                    @Override
                    public Optional<TopicId> find() {
                        return Optional.ofNullable(topic);
                    }

                    @Override
                    public void close() {}
                },
                new Work());
    }

    private void awaitTest() {
        broken.countDown();
        try {
            assertThat(goOn.await(LIMIT_S, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private final class Work implements RecordLoop.Work {
        @Override
        public void begin(
                org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer,
                Map<TopicPartition, Long> reached) {
            begun.add(reached);
            reached.forEach(consumer::seek);
        }

        @Override
        public void beginAnew() {
            taken.add("begins anew");
        }

        @Override
        public void ending(org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer) {
            taken.add("ends");
        }

        @Override
        @SuppressWarnings("InfiniteRecursion") // on purpose
        public void take(ConsumerRecord<byte[], byte[]> record) throws MalformedEventException {
            String value = new String(record.value(), StandardCharsets.UTF_8);
            switch (value) {
                case "malformed" -> throw new MalformedEventException("bad_json", "expected JSON");
                case "defect" -> throw new IllegalStateException("a defect");
                case "deep" -> take(record);
                default -> taken.add(value);
            }
        }
    }

    private String next() throws InterruptedException {
        return String.valueOf(taken.poll(LIMIT_S, TimeUnit.SECONDS));
    }

    private static void add(MockConsumer<byte[], byte[]> consumer, long offset, String value) {
        consumer.addRecord(new ConsumerRecord<>("t", 0, offset, null, value.getBytes(StandardCharsets.UTF_8)));
    }
}
