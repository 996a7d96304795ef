package dev.millrace.bench;

import dev.millrace.bench.Fleet.Durability;
import dev.millrace.bench.Fleet.Mode;
import dev.millrace.kafka.TopicLog;
import dev.millrace.schemas.KnownEventType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;

/**
 * One task that reads a hundred files of 4.5 KB, one per step: whether a step costs the same at the end as at the
 * beginning, and how many bytes are written for each byte that is new. The files hold words in random order, as text
 * does: it is not the same twice, and a compressor makes less than half of it.
 */
final class LongWorkload implements Workload {

    /** For reading the journal at the end. */
    private static final Duration JOURNAL_LIMIT = Duration.ofMinutes(5);

    private static final Option STEPS = new Option("steps", "100", "tool calls of the task");
    private static final Option BYTES =
            new Option("bytes", "4500", "bytes of each result; more than 450 KB together is summed up");
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final int WARM_UP_TASKS = 4;
    private static final int TASKS = 5;

    @Override
    public String name() {
        return "long";
    }

    @Override
    public String summary() {
        return "one task with many large tool results: bytes written per byte of content, time of each step";
    }

    @Override
    public List<Option> options() {
        return List.of(STEPS, BYTES, Fleet.MODE, Fleet.DURABILITY, Fleet.JVM);
    }

    @Override
    public void run(Options options, Report report) throws Exception {
        for (Mode mode : options.choices(Fleet.MODE, Mode.values())) {
            for (Durability durability : options.choices(Fleet.DURABILITY, Durability.values())) {
                report.progress("long: " + mode.wireName() + ", " + durability.wireName());
                measure(mode, durability, options, report);
            }
        }
    }

    private static void measure(Mode mode, Durability durability, Options options, Report report)
            throws IOException, InterruptedException, ExecutionException {
        int steps = options.number(STEPS);
        int bytes = options.number(BYTES);
        Path folder = Files.createTempDirectory("millrace-bench-");
        Path workspace = folder.resolve("workspace");
        Path script = Files.writeString(folder.resolve("script.yaml"), script(steps));
        fill(workspace, steps, bytes);
        try (Fleet fleet = Fleet.start(mode, durability, folder, script, options.words(Fleet.JVM));
                Admin admin = Admin.create(fleet.kafka())) {
            LaneDriver.Tasks tasks = new LaneDriver.Tasks(fleet.topics(), "read them all");
            runTasks(fleet, tasks, WARM_UP_TASKS);
            Map<String, Long> before = KafkaAdmin.bytesByTopic(admin);
            Footprint cpuBefore = fleet.footprint();
            List<String> ids = runTasks(fleet, tasks, TASKS);
            Map<String, Double> cpu = fleet.footprint().cpuMsSince(cpuBefore);
            Map<String, Long> after = KafkaAdmin.bytesByTopic(admin);

            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            row.put("mode", mode.wireName());
            row.put("durability", durability.wireName());
            if (!options.words(Fleet.JVM).isEmpty()) {
                row.put("jvm", options.words(Fleet.JVM));
            }
            row.put("steps", steps);
            row.put("bytesPerResult", bytes);
            Map<String, Long> byTopic = new TreeMap<>();
            after.forEach((topic, size) -> {
                long grown = (size - before.getOrDefault(topic, 0L)) / TASKS / steps;
                if (grown > 0) {
                    byTopic.put(topic, grown);
                }
            });
            long written = byTopic.values().stream().mapToLong(Long::longValue).sum();
            row.put("bytesWrittenPerByte", Math.round(100.0 * written / bytes) / 100.0);
            row.put("bytesPerStepByTopic", byTopic);
            row.put(
                    "cpuMsPerStep",
                    Math.round(100
                                    * cpu.values().stream()
                                            .mapToDouble(Double::doubleValue)
                                            .sum()
                                    / TASKS
                                    / steps)
                            / 100.0);
            List<List<Double>> stepTimes = stepTimes(fleet, ids);
            int tenth = Math.max(1, steps / 10);
            double first = medianOf(stepTimes, 0, tenth);
            double last = medianOf(stepTimes, steps - 1 - tenth, steps - 1);
            row.put("firstTenthOfStepsP50Ms", first);
            row.put("lastTenthOfStepsP50Ms", last);
            row.put("lastToFirst", Math.round(100 * last / first) / 100.0);
            report.row(row);
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

    /** For each task, the milliseconds from each result in the journal to the next. */
    private static List<List<Double>> stepTimes(Fleet fleet, List<String> tasks) {
        Map<String, List<Long>> results = new HashMap<>();
        tasks.forEach(task -> results.put(task, new ArrayList<>()));
        new TopicLog(fleet.kafka(), fleet.topics().journal(), "long").readAll(JOURNAL_LIMIT, entry -> {
            if (Headers.text(entry, "ce_type").equals(KnownEventType.TOOL_CALL_COMPLETED.wireName())) {
                List<Long> times = results.get(Headers.text(entry, "ce_subject"));
                if (times != null) {
                    times.add(entry.timestamp());
                }
            }
        });
        List<List<Double>> steps = new ArrayList<>();
        for (List<Long> times : results.values()) {
            List<Double> between = new ArrayList<>();
            for (int i = 1; i < times.size(); i++) {
                between.add((double) (times.get(i) - times.get(i - 1)));
            }
            steps.add(between);
        }
        return steps;
    }

    private static double medianOf(List<List<Double>> tasks, int from, int to) {
        Latencies chosen = new Latencies();
        tasks.forEach(steps ->
                steps.subList(Math.max(0, from), Math.min(to, steps.size())).forEach(chosen::note));
        return chosen.percentile(0.5);
    }
}
