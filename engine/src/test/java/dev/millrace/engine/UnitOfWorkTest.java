package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.AbstractRecords;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class UnitOfWorkTest {

    private static final Topics TOPICS = new Topics("t.");

    private final MockProcessorContext<byte[], Outgoing> context = new MockProcessorContext<>();
    private final KeyValueStore<Bytes, byte[]> store = Stores.keyValueStoreBuilder(
                    Stores.inMemoryKeyValueStore("rows"), Serdes.Bytes(), Serdes.ByteArray())
            .withLoggingDisabled()
            .build();
    private final List<String> effects = new ArrayList<>();
    private int undone;
    private UnitOfWork unit;
    private Sender sender;

    @BeforeEach
    void open() {
        store.init(context.getStateStoreContext(), store);
        unit = new UnitOfWork(context, TOPICS, store, () -> undone++);
        sender = new Sender(context, TOPICS, unit);
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    void shouldKeepRowsThenSendThenTellOthers() {
        // when
        Optional<UnitOfWork.Undone> why = unit.attempt(() -> {
            unit.rows().put(key("a"), bytes("1"));
            unit.whenKept(() -> effects.add("after " + context.forwarded().size()));
            forward(TOPICS.journal(), bytes("x"));
            assertThat(context.forwarded()).isEmpty();
        });

        // then
        assertThat(why).isEmpty();
        assertThat(store.get(key("a"))).isEqualTo(bytes("1"));
        assertThat(context.forwarded()).hasSize(1);
        assertThat(effects).containsExactly("after 1");
        assertThat(undone).isZero();
    }

    static List<Supplier<Throwable>> defects() {
        return List.of(
                () -> new IllegalStateException("a defect"),
                () -> new StackOverflowError("too deep"),
                () -> new RecordTooLargeForTopicException("a record", 1, 2));
    }

    @ParameterizedTest
    @MethodSource("defects")
    void shouldUndoEverythingWhenItBreaks(Supplier<Throwable> defect) {
        // given
        store.put(key("changed"), bytes("before"));
        store.put(key("deleted"), bytes("before"));

        // when
        Optional<UnitOfWork.Undone> why = unit.attempt(() -> {
            unit.rows().put(key("new"), bytes("1"));
            unit.rows().put(key("changed"), bytes("1"));
            unit.rows().put(key("changed"), bytes("2"));
            unit.rows().delete(key("deleted"));
            unit.rows().putIfAbsent(key("absent"), bytes("1"));
            forward(TOPICS.journal(), bytes("x"));
            unit.whenKept(() -> effects.add("never"));
            throwIt(defect.get());
        });

        // then
        assertThat(why).map(UnitOfWork.Undone::defect).contains(true);
        assertThat(store.get(key("new"))).isNull();
        assertThat(store.get(key("absent"))).isNull();
        assertThat(store.get(key("changed"))).isEqualTo(bytes("before"));
        assertThat(store.get(key("deleted"))).isEqualTo(bytes("before"));
        assertThat(context.forwarded()).isEmpty();
        assertThat(effects).isEmpty();
        assertThat(undone).isOne();

        // when: the next one
        assertThat(unit.attempt(() -> forward(TOPICS.journal(), bytes("y")))).isEmpty();

        // then
        assertThat(context.forwarded()).hasSize(1);
    }

    @Test
    void shouldTellARefusalFromADefect() {
        assertThat(unit.attempt(() -> {
                    throw new RejectedRecordException("unknown_task", "expected one");
                }))
                .contains(new UnitOfWork.Undone("unknown_task", "expected one", false));
        assertThat(unit.attempt(() -> {
                    throw new MalformedEventException("bad_json", "expected JSON");
                }))
                .contains(new UnitOfWork.Undone("bad_json", "expected JSON", false));
        assertThat(undone).isZero();
    }

    @Test
    void shouldReadRowsAnewAfterARefusalThatCameLate() {
        // when
        unit.attempt(() -> {
            unit.rows().put(key("a"), bytes("1"));
            throw new RejectedRecordException("late", "after a row was written");
        });

        // then
        assertThat(store.get(key("a"))).isNull();
        assertThat(undone).isOne();
    }

    @Test
    void shouldLeaveFailuresOfKafkaAndOfVersionsToTheTransaction() {
        assertThatThrownBy(() -> unit.attempt(() -> {
                    throw new KafkaException("the broker is away");
                }))
                .isInstanceOf(KafkaException.class);
        assertThatThrownBy(() -> unit.attempt(() -> {
                    throw new UnreadableRowException("Task", new IllegalStateException("state: dreaming"));
                }))
                .isInstanceOf(UnreadableRowException.class)
                .hasMessageContaining("state: dreaming")
                .hasMessageContaining("run the newest version");
    }

    static List<String> topics() {
        return List.of(
                TOPICS.journal(), TOPICS.deadLetters(), TOPICS.memory(), TOPICS.requests("tool"), TOPICS.requests("x"));
    }

    @ParameterizedTest
    @MethodSource("topics")
    void shouldSendWhatFitsAndNothingLarger(String topic) {
        // given
        int limit = topic.equals(TOPICS.journal()) || topic.equals(TOPICS.deadLetters())
                ? Topics.MAX_COPY_BYTES
                : Topics.MAX_EVENT_BYTES;
        int fits = limit - sizeOf(new byte[0]);
        while (sizeOf(new byte[fits]) > limit) {
            fits--; // the length of a number takes bytes, too
        }
        byte[] largest = new byte[fits];
        byte[] larger = new byte[fits + 1];

        // when // then
        assertThat(unit.attempt(() -> forward(topic, largest))).isEmpty();
        assertThat(unit.attempt(() -> forward(topic, larger)))
                .contains(new UnitOfWork.Undone(
                        "record_too_large",
                        "a record for " + topic + ": expected at most " + limit + " bytes, found " + (limit + 1),
                        true));
    }

    @Test
    void shouldWriteARowThatFitsAndNothingLarger() {
        assertThat(unit.attempt(() -> unit.rows().put(key("a"), new byte[MachineStreams.MAX_ROW_BYTES - 1])))
                .isEmpty();
        assertThat(unit.attempt(() -> unit.rows().put(key("b"), new byte[MachineStreams.MAX_ROW_BYTES])))
                .map(UnitOfWork.Undone::reason)
                .contains("record_too_large");
        assertThat(store.get(key("b"))).isNull();
    }

    @Test
    void shouldWriteNothingOutsideOfAUnit() {
        assertThatThrownBy(() -> unit.rows().put(key("a"), bytes("1"))).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> forward(TOPICS.journal(), bytes("x"))).isInstanceOf(IllegalStateException.class);
    }

    private void forward(String topic, byte[] value) {
        sender.forward(bytes("key"), new Outgoing(topic, value), Instant.EPOCH, new RecordHeaders());
    }

    private static int sizeOf(byte[] value) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>("any", bytes("key"), value);
        return AbstractRecords.estimateSizeInBytesUpperBound(
                RecordBatch.CURRENT_MAGIC_VALUE,
                CompressionType.NONE,
                record.key(),
                record.value(),
                record.headers().toArray());
    }

    private static void throwIt(Throwable defect) {
        if (defect instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) defect;
    }

    private static Bytes key(String text) {
        return Bytes.wrap(bytes(text));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
