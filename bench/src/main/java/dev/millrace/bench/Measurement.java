package dev.millrace.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * What a load does to processes and their broker for a while.
 *
 * @param costs tells what they have cost until now
 * @param admin of their broker, for the bytes that are written; {@code null} = there is no Kafka
 */
record Measurement(Supplier<Footprint> costs, @Nullable Admin admin) {

    /** For how long. */
    static final class Times {

        @Option(names = "--seconds", description = "How long each row is measured.")
        private int seconds;

        @Option(names = "--warm-up", description = "Seconds under load before the first row.")
        private int warmUp;

        /** With these, if nothing is said. */
        Times(int seconds, int warmUp) {
            this.seconds = seconds;
            this.warmUp = warmUp;
        }

        int seconds() {
            return seconds;
        }

        int warmUp() {
            return warmUp;
        }

        /** Seconds under its own load before each row, for compilers and for what measures itself; at least 2. */
        int beforeRow() {
            return Math.max(2, warmUp / 5);
        }
    }

    /**
     * What was measured.
     *
     * @param cpuMsPerTaskByProcess absent where there is one process
     * @param bytesPerTask absent where there is no Kafka, and so is the next one
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Measured(
            String ingress,
            int inFlight,
            double seconds,
            int tasks,
            double tasksPerSecond,
            Latencies.Summary latency,
            double cpuMsPerTask,
            @Nullable Map<String, Double> cpuMsPerTaskByProcess,
            @Nullable Long bytesPerTask,
            @Nullable Map<String, Long> bytesPerTaskByTopic,
            long rssMb,
            double coresBusy) {}

    Measured of(Driver driver, int inFlight, int seconds) throws InterruptedException, ExecutionException {
        Map<String, Long> bytesBefore = bytesByTopic();
        Footprint before = costs.get();
        Cores busyBefore = Cores.now();
        driver.startNoting();
        long begun = System.nanoTime();
        Thread.sleep(Duration.ofSeconds(seconds));
        Latencies latencies = driver.noted();
        double took = (System.nanoTime() - begun) / 1e9;
        Footprint after = costs.get();
        Cores busyAfter = Cores.now();
        int tasks = latencies.count();
        Map<String, Double> cpu = new TreeMap<>();
        after.cpuMsSince(before)
                .forEach((process, millis) -> cpu.put(process, Rounded.to(100, millis / Math.max(1, tasks))));
        Map<String, Long> bytes = new TreeMap<>();
        bytesByTopic().forEach((topic, size) -> {
            long grown = size - bytesBefore.getOrDefault(topic, 0L);
            if (grown > tasks) {
                bytes.put(topic, Math.round(grown / Math.max(1.0, tasks)));
            }
        });
        return new Measured(
                driver.ingress(),
                inFlight,
                Rounded.to(10, took),
                tasks,
                Rounded.to(10, tasks / took),
                latencies.summary(),
                Rounded.to(
                        100,
                        cpu.values().stream().mapToDouble(Double::doubleValue).sum()),
                cpu.size() > 1 ? cpu : null,
                admin == null
                        ? null
                        : bytes.values().stream().mapToLong(Long::longValue).sum(),
                admin == null ? null : bytes,
                after.residentKb() >> 10,
                Rounded.to(100, busyAfter.busySince(busyBefore, took)));
    }

    private Map<String, Long> bytesByTopic() throws InterruptedException, ExecutionException {
        return admin == null ? Map.of() : KafkaClients.bytesByTopic(admin);
    }
}
