package dev.millrace.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;

/**
 * What a number is worth nothing without: which sources, which JDK, which machine, when, and how busy it was.
 *
 * @param commit with a plus behind it if sources differ from it; empty where there is no git
 * @param sha256MbPerSecond how fast one core is in this moment
 */
public record Surroundings(
        String commit,
        String at,
        String jdk,
        int cores,
        long heapMb,
        String os,
        double loadBefore,
        long sha256MbPerSecond) {

    /** Those of this moment. */
    static Surroundings now() {
        return new Surroundings(
                git("rev-parse", "--short", "HEAD")
                        + (git("status", "--porcelain").isEmpty() ? "" : "+"),
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                Runtime.version().toString(),
                Runtime.getRuntime().availableProcessors(),
                Runtime.getRuntime().maxMemory() >> 20,
                System.getProperty("os.name") + ' ' + System.getProperty("os.arch"),
                Rounded.to(10, ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()),
                hashed());
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
