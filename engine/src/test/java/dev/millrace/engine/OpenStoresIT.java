package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A machine on a real broker, one partition of which is ready long before the other. */
@RequiresBroker
class OpenStoresIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final String ROWS = "rows";
    private static final StoreSection<byte[]> SECTION = new StoreSection<>('s', Serdes.ByteArray());
    private static final int SMALL = 0;
    private static final int LARGE = 1;
    private static final int MANY = 1_000;

    @TempDir
    Path state;

    private volatile OpenStores stores = new OpenStores();

    @Test
    @DisplayName("rows of a partition that is ready are read while another one of its thread is restored")
    void shouldReadWhatIsReady(TestBroker broker) throws Exception {
        // given: changelogs with one row and with many
        Topics topics = broker.createTopics(2);
        ClientSettings kafka = ClientSettings.at(broker.bootstrapServers());
        try (MachineRunner first = TestRunner.of(kafka, topics, 2, state.resolve("a"), () -> topology(topics))) {
            first.start();
            produce(broker, topics, SMALL, "small");
            for (int i = 0; i < MANY; i++) {
                produce(broker, topics, LARGE, "large " + i);
            }
            StoreReader<byte[]> reader = new StoreReader<>(stores, SECTION);
            await().atMost(LIMIT).until(() -> has(reader, SMALL, "small") && has(reader, LARGE, "large " + (MANY - 1)));
        }

        // when: they are restored, the one with many rows in hundreds of steps
        stores = new OpenStores();
        ClientSettings slow = kafka.with(StreamsConfig.restoreConsumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), 5)
                .with(StreamsConfig.restoreConsumerPrefix(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG), 1)
                .with(
                        StreamsConfig.restoreConsumerPrefix(ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG),
                        Slowly.class.getName());
        try (MachineRunner second = TestRunner.of(slow, topics, 2, state.resolve("b"), () -> topology(topics))) {
            second.start();
            StoreReader<byte[]> reader = new StoreReader<>(stores, SECTION);

            // then
            await().atMost(LIMIT).until(() -> has(reader, SMALL, "small"));
            KafkaStreams streams = second.streams().get();
            assertThat(streams.state()).isEqualTo(KafkaStreams.State.REBALANCING);
            assertThatThrownBy(() -> stores.of(LARGE)).isInstanceOf(InvalidStateStoreException.class);
            // and: Streams itself shows nothing yet
            assertThatThrownBy(() -> streams.store(StoreQueryParameters.fromNameAndType(
                                            ROWS, QueryableStoreTypes.<Bytes, byte[]>keyValueStore())
                                    .withPartition(SMALL))
                            .get(Bytes.wrap(SECTION.storeKey("small"))))
                    .isInstanceOf(InvalidStateStoreException.class);

            // and: the other one has its turn
            await().atMost(LIMIT).until(() -> has(reader, LARGE, "large 0"));
        }
        assertThatThrownBy(() -> stores.of(SMALL)).isInstanceOf(InvalidStateStoreException.class);
    }

    @Test
    @DisplayName("brokers compress the changelog of a store, and not what is written beside it")
    void shouldCompressChangelogs(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(2);
        ClientSettings kafka = ClientSettings.at(broker.bootstrapServers());

        // when
        try (MachineRunner machine = TestRunner.of(kafka, topics, 2, state.resolve("a"), () -> topology(topics))) {
            machine.start();
            IntStream.range(0, MANY).forEach(i -> produce(broker, topics, LARGE, "large " + i));
            StoreReader<byte[]> reader = new StoreReader<>(stores, SECTION);
            await().atMost(LIMIT).until(() -> has(reader, LARGE, "large " + (MANY - 1)));
        }

        // then: a row has a thousand bytes
        assertThat(bytes(broker, topic -> topic.startsWith(topics.prefix()) && topic.endsWith("-changelog")))
                .isBetween(1L, MANY * 100L);
        assertThat(bytes(broker, topics.lane(Segment.EXTERNAL)::equals)).isGreaterThan(MANY * 1_000L);
    }

    private static long bytes(TestBroker broker, Predicate<String> topics) throws Exception {
        List<Integer> brokers = broker.admin().describeCluster().nodes().get().stream()
                .map(Node::id)
                .toList();
        return broker.admin().describeLogDirs(brokers).allDescriptions().get().values().stream()
                .flatMap(folders -> folders.values().stream())
                .flatMap(folder -> folder.replicaInfos().entrySet().stream())
                .filter(replica -> topics.test(replica.getKey().topic()))
                .mapToLong(replica -> replica.getValue().size())
                .sum();
    }

    private static void produce(TestBroker broker, Topics topics, int partition, String key) {
        broker.produce(
                new ProducerRecord<>(topics.lane(Segment.EXTERNAL), partition, SECTION.storeKey(key), new byte[1_000]));
    }

    private static boolean has(StoreReader<byte[]> reader, int partition, String key) throws InterruptedException {
        return reader.read(partition, rows -> Optional.ofNullable(rows.get(key)))
                .isPresent();
    }

    private Topology topology(Topics topics) {
        OpenStores opened = stores;
        return new Topology()
                .addSource(
                        "lane", new ByteArrayDeserializer(), new ByteArrayDeserializer(), topics.lane(Segment.EXTERNAL))
                .addProcessor("machine", () -> new Keeping(opened), "lane")
                .addStateStore(StoreSection.store(ROWS), "machine");
    }

    private static final class Keeping implements Processor<byte[], byte[], Void, Void> {
        private final OpenStores opened;
        private int partition;
        private KeyValueStore<Bytes, byte[]> rows;

        @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
        Keeping(OpenStores opened) {
            this.opened = opened;
        }

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            partition = context.taskId().partition();
            rows = context.getStateStore(ROWS);
            opened.open(partition, rows);
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            rows.put(Bytes.wrap(record.key()), record.value());
        }

        @Override
        public void close() {
            opened.close(partition, rows);
        }
    }

    /** Takes its time with what is restored. */
    public static final class Slowly implements ConsumerInterceptor<byte[], byte[]> {

        private static final long PAUSE_MS = 20;

        @Override
        public ConsumerRecords<byte[], byte[]> onConsume(ConsumerRecords<byte[], byte[]> records) {
            try {
                Thread.sleep(PAUSE_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return records;
        }

        @Override
        public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {}

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> configs) {}
    }
}
