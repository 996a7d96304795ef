package dev.millrace.bench;

import dev.millrace.bench.Fleet.Durability;
import dev.millrace.bench.Fleet.Mode;
import dev.millrace.schemas.KnownEventType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;

/**
 * Tasks that have asked a question which nobody answers: what they cost while they wait, and how long a start takes
 * with them. One process, as {@code ./millrace up}, killed and started again with all of them, and then with an empty
 * folder.
 */
final class IdleWorkload implements Workload {

    private static final Duration SETTLING = Duration.ofSeconds(15);
    private static final int IN_FLIGHT = 256;
    private static final String SCRIPT = """
            rules:
              - calls: [{ tool: ask_user, arguments: { question: "Which one?" } }]
            """;
    private static final Pattern USED = Pattern.compile("used (\\d+)K");

    @Option(names = "--suspended", description = "Tasks that wait.")
    private int tasks = 100_000;

    @Option(names = "--idle-seconds", description = "How long nothing is done.")
    private int seconds = 30;

    /** The row of the results; what begins with {@code empty} was measured without any task. */
    private record Row(
            String mode,
            int suspended,
            long suspendedPerSecond,
            double startSeconds,
            double emptyStartSeconds,
            double cpuMsPerSecond,
            double emptyCpuMsPerSecond,
            long heapMb,
            long emptyHeapMb,
            long heapBytesPerTask,
            long rssMb,
            long emptyRssMb) {}

    @Override
    public String name() {
        return "idle";
    }

    @Override
    public String summary() {
        return "many tasks that wait for an answer: start-up, CPU and heap";
    }

    @Override
    public void run(Report report) throws Exception {
        Path folder = Files.createTempDirectory("millrace-bench-");
        try {
            Path script = Files.writeString(folder.resolve("script.yaml"), SCRIPT);
            Resting empty = rest(folder.resolve("empty"), script, seconds, report);
            Path full = folder.resolve("full");
            double perSecond = suspend(tasks, full, script, report);
            Resting resting = rest(full, script, seconds, report);
            report.row(new Row(
                    Mode.ONE.wireName(),
                    tasks,
                    Math.round(perSecond),
                    resting.startSeconds(),
                    empty.startSeconds(),
                    resting.cpuMsPerSecond(),
                    empty.cpuMsPerSecond(),
                    resting.heapKb() >> 10,
                    empty.heapKb() >> 10,
                    Math.max(0, resting.heapKb() - empty.heapKb()) * 1024 / tasks,
                    resting.rssMb(),
                    empty.rssMb()));
        } finally {
            Folders.delete(folder);
        }
    }

    /** What a process costs that has nothing to do. */
    private record Resting(double startSeconds, double cpuMsPerSecond, long heapKb, long rssMb) {}

    private static Resting rest(Path folder, Path script, int seconds, Report report)
            throws IOException, InterruptedException, ExecutionException {
        report.progress("idle: starting");
        long begun = System.nanoTime();
        try (Fleet fleet = Fleet.start(Mode.ONE, Durability.CACHE, folder, script, List.of())) {
            double startSeconds = Rounded.to(10, (System.nanoTime() - begun) / 1e9);
            report.progress("idle: ready after " + startSeconds + " s, resting");
            Thread.sleep(SETTLING);
            Footprint before = fleet.footprint();
            Thread.sleep(Duration.ofSeconds(seconds));
            Footprint after = fleet.footprint();
            double cpu = after.allCpuMsSince(before);
            return new Resting(
                    startSeconds, Rounded.to(10, cpu / seconds), heapKb(fleet.pid()), after.residentKb() >> 10);
        }
    }

    private static double suspend(int tasks, Path folder, Path script, Report report)
            throws IOException, InterruptedException, ExecutionException {
        try (Fleet fleet = Fleet.start(Mode.ONE, Durability.CACHE, folder, script, List.of())) {
            // a task counts as soon as it waits for its answer
            LaneDriver.Tasks questions =
                    new LaneDriver.Tasks(fleet.topics(), "one of many", KnownEventType.TASK_SUSPENDED, 0);
            try (LaneDriver driver = new LaneDriver(fleet.kafka(), questions)) {
                driver.startNoting();
                long begun = System.nanoTime();
                driver.keep(IN_FLIGHT);
                long said = begun;
                int done = 0;
                while (done < tasks) {
                    Thread.sleep(Duration.ofMillis(50));
                    done = driver.count();
                    if (System.nanoTime() - said > 5e9) {
                        said = System.nanoTime();
                        report.progress("idle: " + done + " of " + tasks + " tasks wait");
                    }
                }
                return done / ((System.nanoTime() - begun) / 1e9);
            } finally {
                fleet.kill();
            }
        }
    }

    /** What lives on the heap after a collection; classes are not on it, but are listed with it. */
    private static long heapKb(long pid) throws IOException, InterruptedException {
        jcmd(pid, "GC.run");
        return jcmd(pid, "GC.heap_info")
                .lines()
                .filter(line -> !line.contains("Metaspace") && !line.contains("class space"))
                .map(USED::matcher)
                .filter(Matcher::find)
                .mapToLong(used -> Long.parseLong(used.group(1)))
                .sum();
    }

    private static String jcmd(long pid, String command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(), Long.toString(pid), command)
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IllegalStateException("jcmd " + command + " said: " + output);
        }
        return output;
    }
}
