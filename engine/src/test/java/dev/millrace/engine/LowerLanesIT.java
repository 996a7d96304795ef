package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A machine on a real broker whose higher lanes bring more than it takes. */
@RequiresBroker
class LowerLanesIT {

    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final List<Segment> HIGHER = List.of(Segment.SYSTEM, Segment.EXTERNAL);
    private static final long TAKES_NANOS = 500_000;
    private static final int TOO_MANY = 100_000;

    @TempDir
    Path state;

    private final CountDownLatch taken = new CountDownLatch(1);
    private final AtomicBoolean enough = new AtomicBoolean();

    @Test
    @DisplayName("a record of a lower lane is taken while higher lanes are behind all the time")
    void shouldNotStarve(TestBroker broker) throws Exception {
        Topics topics = broker.createTopics(1);
        // as the task machine has it (ADR 0010): what is buffered and fetched is little, so there is always more
        ClientSettings kafka = ClientSettings.at(broker.bootstrapServers())
                .with(StreamsConfig.BUFFERED_RECORDS_PER_PARTITION_CONFIG, 20)
                .with(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), 50)
                .with(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG), 1_000);
        try (MachineRunner runner = TestRunner.of(kafka, topics, 1, state, () -> topology(topics));
                KafkaProducer<String, String> producer = new KafkaProducer<>(
                        Map.of("bootstrap.servers", broker.bootstrapServers(), "batch.size", 1_000),
                        new StringSerializer(),
                        new StringSerializer())) {
            runner.start();
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(runner.notReady()).isEmpty());
            for (int i = 0; i < TOO_MANY; i++) {
                for (Segment segment : HIGHER) {
                    Future<RecordMetadata> ignored =
                            producer.send(new ProducerRecord<>(topics.lane(segment), "key", "higher " + i));
                }
            }
            producer.flush();

            broker.produceRaw(topics.lane(Segment.TOOL), "key", Map.of(), "lower".getBytes(StandardCharsets.UTF_8));

            assertThat(taken.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(runner.fatal()).isEmpty();
            enough.set(true);
        }
    }

    private Topology topology(Topics topics) {
        List<String> lanes = topics.lanes();
        return new Topology()
                .addSource(
                        AutoOffsetReset.earliest(),
                        "lanes",
                        (lane, time) -> (((long) lanes.indexOf(lane.topic())) << 52) + lane.timestamp(),
                        new ByteArrayDeserializer(),
                        new ByteArrayDeserializer(),
                        lanes.toArray(String[]::new))
                .addProcessor("machine", Taking::new, "lanes")
                .addStateStore(StoreSection.store("rows"), "machine");
    }

    private final class Taking implements Processor<byte[], byte[], Void, Void> {
        private ProcessorContext<Void, Void> context;
        private CommitTiming commits;

        @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
        Taking() {}

        @Override
        public void init(ProcessorContext<Void, Void> machine) {
            context = machine;
            commits = CommitTiming.of(machine, machine.getStateStore("rows"), () -> 0);
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            commits.taken(context.currentSystemTimeMs());
            if (!enough.get()) {
                LockSupport.parkNanos(TAKES_NANOS);
            }
            if (new String(record.value(), StandardCharsets.UTF_8).equals("lower")) {
                taken.countDown();
            }
            commits.sent();
        }

        @Override
        public void close() {
            commits.close();
        }
    }
}
