package dev.millrace.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What processes have cost so far.
 *
 * @param cpu time on processors since their start, by name
 * @param residentKb memory that they hold now, in KiB, all together; 0 where the system does not tell
 */
record Footprint(Map<String, Duration> cpu, long residentKb) {

    Footprint {
        cpu = Map.copyOf(cpu);
    }

    /** Of these processes, by name. */
    static Footprint of(Map<String, Long> pids) {
        Map<String, Duration> cpu = new LinkedHashMap<>();
        long resident = 0;
        for (Map.Entry<String, Long> process : pids.entrySet()) {
            cpu.put(
                    process.getKey(),
                    ProcessHandle.of(process.getValue())
                            .flatMap(handle -> handle.info().totalCpuDuration())
                            .orElse(Duration.ZERO));
            resident += residentKb(process.getValue());
        }
        return new Footprint(cpu, resident);
    }

    /** Time on processors between an earlier moment and this one, in milliseconds, by name. */
    Map<String, Double> cpuMsSince(Footprint earlier) {
        Map<String, Double> millis = new LinkedHashMap<>();
        cpu.forEach((name, now) -> millis.put(
                name, now.minus(earlier.cpu.getOrDefault(name, Duration.ZERO)).toNanos() / 1e6));
        return millis;
    }

    /** The same of all together. */
    double allCpuMsSince(Footprint earlier) {
        return cpuMsSince(earlier).values().stream()
                .mapToDouble(Double::doubleValue)
                .sum();
    }

    /** As Linux tells it. */
    private static long residentKb(long pid) {
        try {
            Optional<String> line = Files.readAllLines(Path.of("/proc", Long.toString(pid), "status")).stream()
                    .filter(text -> text.startsWith("VmRSS:"))
                    .findFirst();
            return line.map(text -> Long.parseLong(text.replaceAll("\\D", ""))).orElse(0L);
        } catch (IOException e) {
            return 0;
        }
    }
}
