package dev.millrace.bench;

import dev.millrace.bench.Fleet.Durability;
import dev.millrace.bench.Fleet.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;

/**
 * One agent loop over and over: a message, a model call, a tool call (encoding a word in base64), a model call, the
 * answer. Everything runs as it is shipped, except that the limits on what works at the same time are raised and
 * reflection is off, since it would be a third model call.
 */
final class TaskWorkload implements Workload {

    private static final String SCRIPT = """
            rules:
              - user: slow
                steps:
                  - latencyMs: 20
                    calls: [{ tool: base64_encode, arguments: { text: mill } }]
                  - latencyMs: 20
                    text: "{{result}}"
              - steps:
                  - calls: [{ tool: base64_encode, arguments: { text: mill } }]
                  - text: "{{result}}"
            """;

    private static final Option INGRESS = new Option("ingress", "", "http or lanes in place of a row's own");

    /** What is measured, in this order. */
    private static final List<Row> ROWS = List.of(
            new Row("low", "one task at a time, over HTTP", 1, true, false),
            new Row("mod", "8 tasks in flight, over HTTP", 8, true, false),
            new Row("sat", "64 tasks in flight, through the lanes", 64, false, false),
            new Row("sat512", "512 tasks in flight, through the lanes", 512, false, false),
            new Row("llm20", "100 tasks in flight, each model call takes 20 ms", 100, false, true));

    /**
     * One load.
     *
     * @param inFlight tasks at the same time
     * @param slow whether each model call takes 20 ms
     */
    private record Row(String name, String summary, int inFlight, boolean http, boolean slow) {}

    private final List<Row> rows;
    private final String name;
    private final String summary;

    private TaskWorkload(String name, String summary, List<Row> rows) {
        this.name = name;
        this.summary = summary;
        this.rows = rows;
    }

    /** Each row by itself, and all of them one after the other on the same processes. */
    static List<Workload> all() {
        List<Workload> workloads = new ArrayList<>();
        workloads.add(new TaskWorkload("tasks", "low, mod, sat, sat512 and llm20 on the same processes", ROWS));
        ROWS.forEach(row -> workloads.add(new TaskWorkload(row.name(), row.summary(), List.of(row))));
        return workloads;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String summary() {
        return summary;
    }

    @Override
    public List<Option> options() {
        return List.of(Measurement.SECONDS, Measurement.WARM_UP, Fleet.MODE, Fleet.DURABILITY, INGRESS, Fleet.JVM);
    }

    @Override
    public void run(Options options, Report report) throws Exception {
        for (Mode mode : options.choices(Fleet.MODE, Mode.values())) {
            for (Durability durability : options.choices(Fleet.DURABILITY, Durability.values())) {
                measure(mode, durability, options, report);
            }
        }
    }

    private void measure(Mode mode, Durability durability, Options options, Report report)
            throws IOException, InterruptedException, ExecutionException {
        Path folder = Files.createTempDirectory("millrace-bench-");
        Path script = Files.writeString(folder.resolve("script.yaml"), SCRIPT);
        List<String> jvm = options.words(Fleet.JVM);
        report.progress(name + ": starting, " + mode.wireName() + ", " + durability.wireName());
        long begun = System.nanoTime();
        try (Fleet fleet = Fleet.start(mode, durability, folder, script, jvm);
                Admin admin = Admin.create(fleet.kafka())) {
            double readySeconds = (System.nanoTime() - begun) / 1e9;
            report.progress(name + ": ready after " + Math.round(readySeconds * 10) / 10.0 + " s, warming up");
            try (Driver driver = new LaneDriver(fleet.kafka(), new LaneDriver.Tasks(fleet.topics(), "warm up"))) {
                load(driver, 64, options.number(Measurement.WARM_UP));
            }
            for (Row row : rows) {
                report.progress(row.name() + ": " + row.summary());
                Map<String, @Nullable Object> result = new LinkedHashMap<>();
                result.put("workload", row.name());
                result.put("mode", mode.wireName());
                result.put("durability", durability.wireName());
                if (!jvm.isEmpty()) {
                    result.put("jvm", jvm);
                }
                try (Driver driver = driver(fleet, row, options.text(INGRESS))) {
                    load(driver, row.inFlight(), Math.max(2, options.number(Measurement.WARM_UP) / 5));
                    result.putAll(new Measurement(fleet::footprint, admin)
                            .of(driver, row.inFlight(), options.number(Measurement.SECONDS)));
                }
                report.row(result);
            }
        } finally {
            Folders.delete(folder);
        }
    }

    private static void load(Driver driver, int inFlight, int seconds) throws InterruptedException {
        driver.keep(inFlight);
        Thread.sleep(Duration.ofSeconds(seconds));
    }

    private static Driver driver(Fleet fleet, Row row, String ingress) {
        String text = row.slow() ? "a slow one" : "go";
        boolean http = ingress.isEmpty() ? row.http() : ingress.equals("http");
        return http
                ? new HttpDriver(fleet.http(), text)
                : new LaneDriver(fleet.kafka(), new LaneDriver.Tasks(fleet.topics(), text));
    }
}
