package dev.millrace.bench;

import dev.millrace.bench.Fleet.Durability;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/** A {@link FloorLoop} and its broker, each a process of its own. */
final class Floor implements Peer {

    private static final byte[] CONTENT = "x".repeat(500).getBytes(StandardCharsets.UTF_8);
    private static final int PARTITIONS = 2;

    private final Path folder = Files.createTempDirectory("millrace-bench-");
    private final int port = FreePort.find();
    private final List<ServiceProcess> processes = new ArrayList<>();

    private Floor() throws IOException {}

    /** Starts one and waits until it takes records. */
    static Floor start(FloorLoop.Kind kind, Durability durability)
            throws IOException, InterruptedException, ExecutionException {
        Floor floor = new Floor();
        try (Admin admin = floor.startBroker().admin()) {
            admin.createTopics(FloorLoop.TOPICS.stream()
                            .map(topic -> new NewTopic(topic, PARTITIONS, (short) 1))
                            .toList())
                    .all()
                    .get();
            floor.startLoop(kind);
            if (durability == Durability.FSYNC) {
                KafkaClients.flushEveryAppend(admin);
            }
            return floor;
        } catch (InterruptedException | ExecutionException | RuntimeException | AssertionError e) {
            floor.close();
            throw e;
        }
    }

    private KafkaClients startBroker() {
        processes.add(broker(port, folder));
        return kafka();
    }

    /** Starts a broker for measurements and waits until it takes records. */
    static ServiceProcess broker(int port, Path folder) {
        return ServiceProcess.standalone("broker", "--port", Integer.toString(port), "--data", "data")
                .asInProduction()
                .start(folder)
                .awaitOutput("Kafka is ready", ServiceProcess.START_LIMIT);
    }

    private void startLoop(FloorLoop.Kind kind) {
        String state = folder.resolve("state").toString();
        processes.add(ServiceProcess.mainClass(FloorLoop.class, kind.name(), "127.0.0.1:" + port, state)
                .asInProduction()
                .start(folder));
        processes.getLast().awaitOutput("The loop runs", ServiceProcess.START_LIMIT);
    }

    /** Its broker. */
    KafkaClients kafka() {
        return KafkaClients.at("127.0.0.1:" + port);
    }

    /** A record in, the same record out, whatever the load is. */
    @Override
    public Driver driver(TaskWorkload.Load load) {
        return new LaneDriver(kafka(), new Records());
    }

    @Override
    public Footprint footprint() {
        return Footprint.of(Map.of(
                "broker",
                processes.getFirst().pid(),
                "loop",
                processes.getLast().pid()));
    }

    @Override
    public void close() {
        processes.reversed().forEach(ServiceProcess::close);
        Folders.delete(folder);
    }

    private record Records() implements LaneDriver.Loop {
        @Override
        public ProducerRecord<String, byte[]> start(String id) {
            return new ProducerRecord<>(FloorLoop.IN, id, CONTENT);
        }

        @Override
        public String outcomes() {
            return FloorLoop.OUT;
        }

        @Override
        public @Nullable String completed(ConsumerRecord<byte[], byte[]> entry) {
            return new String(entry.key(), StandardCharsets.UTF_8);
        }

        @Override
        public boolean failed(ConsumerRecord<byte[], byte[]> entry) {
            return false;
        }
    }
}
