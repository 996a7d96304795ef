package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.errors.DeserializationExceptionHandler;
import org.apache.kafka.streams.errors.ErrorHandlerContext;
import org.apache.kafka.streams.errors.ProcessingExceptionHandler;
import org.apache.kafka.streams.errors.ProductionExceptionHandler;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MachineExceptionHandlerTest {

    private static final Topics TOPICS = new Topics("t.");
    private static final ErrorHandlerContext AT_RECORD = new At("t.events.tool", 7);
    private static final ErrorHandlerContext AT_TIMER = new At(null, -1);

    private final Quarantine quarantine = new Quarantine();
    private final MachineExceptionHandler handler = new MachineExceptionHandler();

    @BeforeEach
    void configure() {
        handler.configure(Map.of(Quarantine.CONFIG, quarantine, MachineExceptionHandler.TOPICS, TOPICS));
    }

    @ParameterizedTest
    @CsvSource({"too large, record_too_large", "no right, not_produced", "broker away,"})
    void shouldBlameWhatABrokerRefuses(String what, @Nullable String reason) {
        // given
        String topic = "t.requests.mine";
        byte[] value = bytes("a request");
        quarantine.sending(topic, bytes("call-3"), value);
        Exception failure =
                switch (what) {
                    case "too large" -> new RecordTooLargeException("1 MiB");
                    case "no right" -> new TopicAuthorizationException("no");
                    default -> new TimeoutException("late");
                };

        // when: Streams is at another record by then
        ProductionExceptionHandler.Response response =
                handler.handleError(AT_RECORD, new ProducerRecord<>(topic, value), failure);

        // then: Streams wraps what it was told
        assertThat(response.result()).isEqualTo(ProductionExceptionHandler.Result.FAIL);
        assertThat(quarantine.explains(new StreamsException("sending", failure)))
                .isEqualTo(reason != null);
        assertThat(reasonAt(7)).isNull();
        assertThatCode(() -> quarantine.sending(topic, bytes("call-4"), bytes("another")))
                .doesNotThrowAnyException();
        ThrowingCallable again = () -> quarantine.sending(topic, bytes("call-3"), bytes("a request, made again"));
        if (reason == null) {
            assertThatCode(again).doesNotThrowAnyException();
        } else {
            assertThatThrownBy(again)
                    .isInstanceOfSatisfying(
                            RefusedByTopicException.class,
                            refused -> assertThat(refused.code().code()).isEqualTo(reason));
        }
    }

    @Test
    void shouldBlameNobodyForWhatIsRefusedOfOurOwnTopics() {
        // given
        Exception failure = new TopicAuthorizationException("no");
        // when
        handler.handleError(AT_RECORD, new ProducerRecord<>(TOPICS.journal(), bytes("a fact")), failure);
        // then
        assertThat(quarantine.explains(failure)).isFalse();
    }

    private @Nullable String reasonAt(long offset) {
        return quarantine
                .of(new ProcessorRecordContext(0, offset, 0, "t.events.tool", new RecordHeaders()))
                .map(RejectedRecordException::reason)
                .orElse(null);
    }

    @Test
    void shouldBlameTheRecordForADefectOfOurs() {
        // given
        Exception defect = new IllegalStateException("a defect");
        Exception ofKafka = new KafkaException("away");
        Exception ofAnotherVersion = new UnreadableRowException("Row", defect);

        // when // then
        for (Exception failure : new Exception[] {ofKafka, ofAnotherVersion, defect}) {
            ProcessingExceptionHandler.Response response =
                    handler.handleError(AT_RECORD, new Record<>("k", "v", 0), failure);
            assertThat(response.result()).isEqualTo(ProcessingExceptionHandler.Result.FAIL);
            assertThat(quarantine.explains(failure)).isEqualTo(failure.equals(defect));
        }
    }

    @Test
    void shouldBlameNoRecordForWhatATimerDid() {
        // given
        Exception defect = new IllegalStateException("a defect");
        // when
        handler.handleError(AT_TIMER, new Record<>("k", "v", 0), defect);
        // then
        assertThat(quarantine.explains(defect)).isFalse();
    }

    @Test
    void shouldPutAsideWhatCannotBeDeserialized() {
        // given
        ConsumerRecord<byte[], byte[]> record =
                new ConsumerRecord<>("t.events.tool", 0, 7, bytes("key"), bytes("value"));

        // when
        DeserializationExceptionHandler.Response response =
                handler.handleError(AT_RECORD, record, new IllegalStateException("no bytes"));

        // then
        assertThat(response.result()).isEqualTo(DeserializationExceptionHandler.Result.RESUME);
        assertThat(response.deadLetterQueueRecords()).singleElement().satisfies(letter -> {
            assertThat(letter.topic()).isEqualTo(TOPICS.deadLetters());
            assertThat(letter.value()).isEqualTo(record.value());
            assertThat(letter.headers().lastHeader(DeadLetters.REASON).value()).isEqualTo(bytes("not_a_cloud_event"));
        });
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private record At(@Nullable String topic, long offset) implements ErrorHandlerContext {
        @Override
        public int partition() {
            return 0;
        }

        @Override
        public Headers headers() {
            return new RecordHeaders();
        }

        @Override
        public String processorNodeId() {
            return "node";
        }

        @Override
        public TaskId taskId() {
            return new TaskId(0, 0);
        }

        @Override
        public long timestamp() {
            return 0;
        }

        @Override
        public byte[] sourceRawKey() {
            return new byte[0];
        }

        @Override
        public byte[] sourceRawValue() {
            return new byte[0];
        }
    }
}
