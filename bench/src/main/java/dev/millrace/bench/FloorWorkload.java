package dev.millrace.bench;

import dev.millrace.bench.Fleet.Durability;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/** {@link FloorLoop} under the loads of {@link TaskWorkload}: what the figures of tasks are a ratio to. */
final class FloorWorkload implements Workload {

    private static final byte[] CONTENT = "x".repeat(500).getBytes(StandardCharsets.UTF_8);
    private static final List<Integer> IN_FLIGHT = List.of(1, 8, 64, 512);
    private static final int PARTITIONS = 2;

    @Override
    public String name() {
        return "floors";
    }

    @Override
    public String summary() {
        return "what Kafka alone does: a loop of plain clients, of Kafka Streams, and of Kafka Streams exactly once";
    }

    @Override
    public List<Option> options() {
        return List.of(Measurement.SECONDS, Measurement.WARM_UP, Fleet.DURABILITY);
    }

    @Override
    public void run(Options options, Report report) throws Exception {
        for (Durability durability : options.choices(Fleet.DURABILITY, Durability.values())) {
            for (FloorLoop.Kind kind : FloorLoop.Kind.values()) {
                report.progress("floors: " + kind.wireName() + ", " + durability.wireName());
                measure(kind, durability, options, report);
            }
        }
    }

    private static void measure(FloorLoop.Kind kind, Durability durability, Options options, Report report)
            throws IOException, InterruptedException, ExecutionException {
        Path folder = Files.createTempDirectory("millrace-bench-");
        int port = FreePort.find();
        Map<String, Object> kafka = Map.of("bootstrap.servers", "127.0.0.1:" + port);
        try (ServiceProcess broker = ServiceProcess.standalone(
                                "broker", "--port", Integer.toString(port), "--data", "data")
                        .jvm("-XX:TieredStopAtLevel=4")
                        .jvm("-XX:-UseSerialGC")
                        .start(folder)
                        .awaitOutput("Kafka is ready", ServiceProcess.START_LIMIT);
                Admin admin = Admin.create(kafka)) {
            admin.createTopics(FloorLoop.TOPICS.stream()
                            .map(topic -> new NewTopic(topic, PARTITIONS, (short) 1))
                            .toList())
                    .all()
                    .get();
            try (ServiceProcess loop = loop(kind, port, folder)) {
                loop.awaitOutput("The loop runs", ServiceProcess.START_LIMIT);
                if (durability == Durability.FSYNC) {
                    KafkaAdmin.flushEveryAppend(admin);
                }
                Map<String, Long> pids = Map.of("broker", broker.pid(), "loop", loop.pid());
                Measurement measurement = new Measurement(() -> Footprint.of(pids), admin);
                warmUp(kafka, options.number(Measurement.WARM_UP));
                for (int inFlight : IN_FLIGHT) {
                    Map<String, @Nullable Object> row = new LinkedHashMap<>();
                    row.put("workload", "floor-" + kind.wireName());
                    row.put("durability", durability.wireName());
                    try (Driver driver = new LaneDriver(kafka, new Records())) {
                        driver.keep(inFlight);
                        Thread.sleep(Duration.ofSeconds(2));
                        row.putAll(measurement.of(driver, inFlight, options.number(Measurement.SECONDS)));
                    }
                    report.row(row);
                }
            }
        } finally {
            Folders.delete(folder);
        }
    }

    private static void warmUp(Map<String, Object> kafka, int seconds) throws InterruptedException {
        try (Driver driver = new LaneDriver(kafka, new Records())) {
            driver.keep(64);
            Thread.sleep(Duration.ofSeconds(seconds));
            driver.startNoting();
        }
    }

    private static ServiceProcess loop(FloorLoop.Kind kind, int port, Path folder) {
        return ServiceProcess.mainClass(
                        FloorLoop.class,
                        kind.name(),
                        "127.0.0.1:" + port,
                        folder.resolve("state").toString())
                .jvm("-XX:TieredStopAtLevel=4")
                .jvm("-XX:-UseSerialGC")
                .start(folder);
    }

    /** A record in, the same record out. */
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
