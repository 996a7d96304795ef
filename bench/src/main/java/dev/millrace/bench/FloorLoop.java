package dev.millrace.bench;

import dev.millrace.engine.MachineStreams;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Topics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;

/**
 * What Kafka itself allows, in a process of its own: the shape of a task and nothing of its content. A message leads to
 * a request, a worker's answer to the request leads to an outcome: four records and four hops, where a task of Millrace
 * has the model's two replies as well.
 */
public final class FloorLoop {

    static final String IN = "floor.in";
    static final String REQUESTS = "floor.requests";
    static final String RESULTS = "floor.results";
    static final String OUT = "floor.out";
    static final List<String> TOPICS = List.of(IN, REQUESTS, RESULTS, OUT);

    private static final Duration POLL = Duration.ofMillis(100);
    private static final String STORE = "tasks";

    private FloorLoop() {}

    /** Who turns messages into requests and answers into outcomes. */
    enum Kind {
        /** A plain consumer and a plain producer that keep nothing; at least once. */
        CLIENTS,
        /** Kafka Streams with a store that has a changelog; at least once. */
        STREAMS,
        /** The same, exactly once, with the commit interval of the task machine. */
        STREAMS_EOS;

        String wireName() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Runs until it is killed.
     *
     * @param args kind, bootstrap servers, state folder
     */
    public static void main(String... args) {
        Kind kind = Kind.valueOf(args[0]);
        KafkaClients kafka = KafkaClients.at(args[1]);
        boolean committed = kind == Kind.STREAMS_EOS;
        forward(kafka, committed, Map.of(REQUESTS, RESULTS));
        if (kind == Kind.CLIENTS) {
            forward(kafka, false, Map.of(IN, REQUESTS, RESULTS, OUT));
        } else {
            streams(kafka, kind, Path.of(args[2]));
        }
        System.out.println("The loop runs");
    }

    /** A thread that reads topics and puts each record on the one that follows. */
    private static void forward(KafkaClients kafka, boolean committed, Map<String, String> next) {
        KafkaConsumer<byte[], byte[]> consumer = kafka.with(Map.of(
                        "isolation.level", committed ? "read_committed" : "read_uncommitted", "fetch.max.wait.ms", 50))
                .reader(next.keySet().toArray(String[]::new));
        KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                kafka.settings().with("linger.ms", 0).values(), new ByteArraySerializer(), new ByteArraySerializer());
        Thread.ofPlatform().name("forward").start(() -> {
            while (true) {
                for (ConsumerRecord<byte[], byte[]> entry : consumer.poll(POLL)) {
                    Future<RecordMetadata> ignored = producer.send(
                            new ProducerRecord<>(next.get(entry.topic()), entry.key(), entry.value()),
                            FloorLoop::requireSent);
                }
            }
        });
    }

    /** A floor with losses is none. */
    private static void requireSent(@Nullable RecordMetadata metadata, @Nullable Exception failure) {
        if (failure != null) {
            System.err.println("a record was not taken: " + failure);
            Runtime.getRuntime().halt(1);
        }
    }

    private static void streams(KafkaClients kafka, Kind kind, Path folder) {
        ClientSettings config = MachineStreams.config(
                        kafka.settings(),
                        new MachineStreams.Settings("floor", new Topics(""), "floor", folder, 1, Duration.ofMillis(20)))
                // nobody asks for commits here, as the task machine does, or has the poll end when one is due
                .with(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 20)
                .with(StreamsConfig.POLL_MS_CONFIG, 10);
        if (kind == Kind.STREAMS) {
            config = config.with(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.AT_LEAST_ONCE)
                    .with(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 1000)
                    // what is sent is seen at once, and not at the commit
                    .with(StreamsConfig.producerPrefix(ProducerConfig.LINGER_MS_CONFIG), 0);
        }
        Topology topology = new Topology();
        topology.addSource("in", new ByteArrayDeserializer(), new ByteArrayDeserializer(), IN, RESULTS);
        topology.addProcessor("loop", Loop::new, "in");
        topology.addStateStore(
                Stores.keyValueStoreBuilder(
                                Stores.persistentKeyValueStore(STORE), Serdes.ByteArray(), Serdes.ByteArray())
                        .withCachingDisabled(),
                "loop");
        topology.addSink("requests", REQUESTS, new ByteArraySerializer(), new ByteArraySerializer(), "loop");
        topology.addSink("out", OUT, new ByteArraySerializer(), new ByteArraySerializer(), "loop");
        new KafkaStreams(topology, new StreamsConfig(config.values())).start();
    }

    /** Keeps the message, then what came of it. */
    private static final class Loop implements Processor<byte[], byte[], byte[], byte[]> {
        private ProcessorContext<byte[], byte[]> context;
        private KeyValueStore<byte[], byte[]> store;

        @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
        Loop() {}

        @Override
        public void init(ProcessorContext<byte[], byte[]> processorContext) {
            context = processorContext;
            store = context.getStateStore(STORE);
        }

        @Override
        public void process(Record<byte[], byte[]> incoming) {
            boolean first = store.get(incoming.key()) == null;
            store.put(incoming.key(), incoming.value());
            context.forward(incoming, first ? "requests" : "out");
        }
    }
}
