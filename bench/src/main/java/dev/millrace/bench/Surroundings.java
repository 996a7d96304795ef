package dev.millrace.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What a number is worth nothing without: which sources, which JDK, which machine, when, and how busy it was. */
final class Surroundings {

    private Surroundings() {}

    static Map<String, @Nullable Object> describe() {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put(
                "commit",
                git("rev-parse", "--short", "HEAD")
                        + (git("status", "--porcelain").isEmpty() ? "" : "+"));
        json.put("at", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        json.put("jdk", Runtime.version().toString());
        json.put("cores", Runtime.getRuntime().availableProcessors());
        json.put("heapMb", Runtime.getRuntime().maxMemory() >> 20);
        json.put("os", System.getProperty("os.name") + ' ' + System.getProperty("os.arch"));
        json.put("loadBefore", loadAverage());
        json.put("sha256MbPerSecond", hashed());
        return json;
    }

    /**
     * How fast one core is in this moment, in megabytes of SHA-256 per second. A virtual machine shares its cores with
     * others, whom it does not see: where this differs between two rows, so does everything else.
     */
    private static long hashed() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] megabyte = new byte[1 << 20];
            long warm = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100);
            while (System.nanoTime() < warm) {
                digest.update(megabyte);
            }
            long begun = System.nanoTime();
            long end = begun + TimeUnit.MILLISECONDS.toNanos(200);
            int done = 0;
            while (System.nanoTime() < end) {
                digest.update(megabyte);
                done++;
            }
            return Math.round(done * 1e9 / (System.nanoTime() - begun));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private static double loadAverage() {
        double load = java.lang.management.ManagementFactory.getOperatingSystemMXBean()
                .getSystemLoadAverage();
        return Math.round(load * 10) / 10.0;
    }

    /** What git says; nothing where there is no git. */
    private static String git(String... args) {
        String[] command = new String[args.length + 1];
        command[0] = "git";
        System.arraycopy(args, 0, command, 1, args.length);
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return "";
        }
    }
}
