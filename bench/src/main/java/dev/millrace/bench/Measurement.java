package dev.millrace.bench;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;

/**
 * What a load does to processes and their broker for a while.
 *
 * @param costs tells what they have cost until now
 */
record Measurement(Supplier<Footprint> costs, Admin admin) {

    static final Option SECONDS = new Option("seconds", "15", "how long each row is measured");
    static final Option WARM_UP = new Option("warm-up", "20", "seconds under load before the first row");

    Map<String, @Nullable Object> of(Driver driver, int inFlight, int seconds)
            throws InterruptedException, ExecutionException {
        Map<String, Long> bytesBefore = KafkaAdmin.bytesByTopic(admin);
        Footprint before = costs.get();
        Cores busyBefore = Cores.now();
        driver.startNoting();
        long begun = System.nanoTime();
        Thread.sleep(Duration.ofSeconds(seconds));
        Latencies latencies = driver.noted();
        double took = (System.nanoTime() - begun) / 1e9;
        Footprint after = costs.get();
        Cores busyAfter = Cores.now();
        Map<String, Long> bytesAfter = KafkaAdmin.bytesByTopic(admin);
        int tasks = latencies.count();
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("ingress", driver.ingress());
        json.put("inFlight", inFlight);
        json.put("seconds", rounded(took));
        json.put("tasks", tasks);
        json.put("tasksPerSecond", rounded(tasks / took));
        json.put("latency", latencies.toJson());
        Map<String, Double> cpu = new TreeMap<>();
        after.cpuMsSince(before).forEach((process, millis) -> cpu.put(process, perTask(millis, tasks)));
        json.put(
                "cpuMsPerTask",
                rounded2(cpu.values().stream().mapToDouble(Double::doubleValue).sum()));
        if (cpu.size() > 1) {
            json.put("cpuMsPerTaskByProcess", cpu);
        }
        Map<String, Long> bytes = new TreeMap<>();
        bytesAfter.forEach((topic, size) -> {
            long grown = size - bytesBefore.getOrDefault(topic, 0L);
            if (grown > tasks) {
                bytes.put(topic, Math.round(grown / (double) tasks));
            }
        });
        json.put(
                "bytesPerTask",
                bytes.values().stream().mapToLong(Long::longValue).sum());
        json.put("bytesPerTaskByTopic", bytes);
        json.put("rssMb", after.residentKb() >> 10);
        json.put("coresBusy", rounded2(busyAfter.busySince(busyBefore, took)));
        return json;
    }

    private static double perTask(double value, int tasks) {
        return rounded2(value / Math.max(1, tasks));
    }

    private static double rounded(double value) {
        return Math.round(value * 10) / 10.0;
    }

    private static double rounded2(double value) {
        return Math.round(value * 100) / 100.0;
    }
}
