package dev.millrace.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.bench.Fleet.Durability;
import dev.millrace.bench.Fleet.Mode;
import dev.millrace.kafka.TopicLog;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.KnownEventType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * One task that reads a hundred files of 4.5 KB, one per step: whether a step costs the same at the end as at the
 * beginning, and how many bytes are written for each byte that is new. The files hold words in random order, as text
 * does: it is not the same twice, and a compressor makes less than half of it.
 */
final class LongWorkload implements Workload {

    /** For reading the journal at the end. */
    private static final Duration JOURNAL_LIMIT = Duration.ofMinutes(5);

    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final int WARM_UP_TASKS = 4;
    /** As long as the others; until then steps get quicker, which hides what the last ones take longer. */
    private static final Duration WARM_UP = Duration.ofSeconds(20);

    /** Ten steps of one take some 50 ms, with one commit in them or two. */
    private static final int TASKS = 40;

    private static final int LEAST_STEPS = 11;

    @Option(names = "--steps", description = "Tool calls of the task, 11 or more.")
    private int steps = 100;

    @Option(names = "--bytes", description = "Bytes of each result; more than 450 KB together is summed up.")
    private int bytes = 4500;

    @Mixin
    private FleetOptions fleets = new FleetOptions();

    /** A row of the results. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Row(
            String mode,
            String durability,
            @Nullable List<String> jvm,
            int steps,
            int bytesPerResult,
            double bytesWrittenPerByte,
            Map<String, Long> bytesPerStepByTopic,
            double cpuMsPerStep,
            List<Double> msPerStepOfEachTenth,
            double lastToFirst) {}

    @Override
    public String name() {
        return "long";
    }

    @Override
    public String summary() {
        return "one task with many large tool results: bytes written per byte of content, time of each step";
    }

    @Override
    public void run(Report report) throws Exception {
        if (steps < LEAST_STEPS) {
            throw new IllegalArgumentException(
                    "--steps: expected " + LEAST_STEPS + " or more, for each tenth to have one, found " + steps);
        }
        fleets.forEach((mode, durability) -> {
            report.progress("long: " + mode.wireName() + ", " + durability.wireName());
            measure(mode, durability, report);
        });
    }

    private void measure(Mode mode, Durability durability, Report report)
            throws IOException, InterruptedException, ExecutionException {
        Path folder = Files.createTempDirectory("millrace-bench-");
        Path workspace = folder.resolve("workspace");
        Path script = Files.writeString(folder.resolve("script.yaml"), script(steps));
        fill(workspace, steps, bytes);
        try (Fleet fleet = Fleet.start(mode, durability, folder, script, fleets.jvm());
                Admin admin = fleet.kafka().admin()) {
            LaneDriver.Tasks tasks = new LaneDriver.Tasks(fleet.topics(), "read them all");
            long begun = System.nanoTime();
            do {
                runTasks(fleet, tasks, WARM_UP_TASKS);
            } while (System.nanoTime() - begun < WARM_UP.toNanos());
            Map<String, Long> before = KafkaClients.bytesByTopic(admin);
            Footprint cpuBefore = fleet.footprint();
            List<String> ids = runTasks(fleet, tasks, TASKS);
            double cpuMs = fleet.footprint().allCpuMsSince(cpuBefore);
            Map<String, Long> after = KafkaClients.bytesByTopic(admin);

            Map<String, Long> byTopic = new TreeMap<>();
            after.forEach((topic, size) -> {
                long grown = (size - before.getOrDefault(topic, 0L)) / TASKS / steps;
                if (grown > 0) {
                    byTopic.put(topic, grown);
                }
            });
            double written =
                    byTopic.values().stream().mapToLong(Long::longValue).sum();
            Collection<List<Long>> results = results(fleet, ids);
            List<Double> tenths = IntStream.range(0, 10)
                    .mapToObj(tenth -> msPerStep(results, tenth * (steps - 1) / 10, (tenth + 1) * (steps - 1) / 10))
                    .toList();
            report.row(new Row(
                    mode.wireName(),
                    durability.wireName(),
                    fleets.jvm().isEmpty() ? null : fleets.jvm(),
                    steps,
                    bytes,
                    Rounded.to(100, written / bytes),
                    byTopic,
                    Rounded.to(100, cpuMs / TASKS / steps),
                    tenths,
                    Rounded.to(100, tenths.getLast() / tenths.getFirst())));
        } finally {
            Folders.delete(folder);
        }
    }

    private static String script(int steps) {
        StringBuilder yaml = new StringBuilder("rules:\n  - steps:\n");
        for (int i = 0; i < steps; i++) {
            yaml.append("      - calls: [{ tool: read_file, arguments: { path: ")
                    .append(file(i))
                    .append(" } }]\n");
        }
        return yaml.append("      - text: done\n").toString();
    }

    private static String file(int number) {
        return "chapter-" + number + ".txt";
    }

    /** With words of a language that has two thousand of them. */
    private static void fill(Path workspace, int files, int bytes) throws IOException {
        Files.createDirectories(workspace);
        Random random = new Random(1);
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            StringBuilder word = new StringBuilder();
            for (int length = 2 + random.nextInt(8); length > 0; length--) {
                word.append((char) ('a' + random.nextInt(26)));
            }
            words.add(word.toString());
        }
        for (int i = 0; i < files; i++) {
            StringBuilder text = new StringBuilder();
            while (text.length() < bytes) {
                text.append(words.get(random.nextInt(words.size()))).append(' ');
            }
            text.setLength(bytes);
            Files.writeString(workspace.resolve(file(i)), text);
        }
    }

    /** One after the other. */
    private static List<String> runTasks(Fleet fleet, LaneDriver.Tasks tasks, int count) throws InterruptedException {
        try (LaneDriver driver = new LaneDriver(fleet.kafka(), tasks)) {
            driver.startNoting();
            driver.keep(1);
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (driver.count() < count - 1) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException(
                            "expected " + count + " tasks to end within " + PATIENCE + ", found " + driver.count());
                }
                Thread.sleep(Duration.ofMillis(20));
            }
            driver.keep(0);
            while (driver.count() < count && System.nanoTime() < deadline) {
                Thread.sleep(Duration.ofMillis(20));
            }
            return driver.completed();
        }
    }

    /**
     * For each task, when its tools gave their results, in Unix milliseconds, by what the events say: a record of the
     * journal is dated when the commit sends it, some six results at a time.
     */
    private Collection<List<Long>> results(Fleet fleet, List<String> tasks) {
        Map<String, List<Long>> results = new HashMap<>();
        tasks.forEach(task -> results.put(task, new ArrayList<>()));
        new TopicLog(fleet.kafka().settings(), fleet.topics().journal(), "long").readAll(JOURNAL_LIMIT, entry -> {
            if (Headers.text(entry, "ce_type").equals(KnownEventType.TOOL_CALL_COMPLETED.wireName())) {
                List<Long> times = results.get(Headers.text(entry, "ce_subject"));
                if (times != null) {
                    times.add(Instant.parse(Headers.text(entry, EventCodec.CE_TIME))
                            .toEpochMilli());
                }
            }
        });
        results.forEach((task, times) -> {
            if (times.size() != steps) {
                throw new IllegalStateException("expected " + steps + " results of tools in the journal for the task "
                        + task + ", found " + times.size());
            }
        });
        return results.values();
    }

    /**
     * How long a step takes, from one of the results to another one, on average of the steps between them, in some of
     * which a commit is waited for. The median of all tasks.
     */
    static double msPerStep(Collection<List<Long>> tasks, int from, int to) {
        double median = Rounded.median(tasks.stream().mapToDouble(times -> times.get(to) - times.get(from)));
        return Rounded.to(100, median / (to - from));
    }
}
