package dev.millrace.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.millrace.bench.Fleet.Durability;
import dev.millrace.bench.Fleet.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * One agent loop over and over: a message, a model call, a tool call (encoding a word in base64), a model call, the
 * answer. Everything runs as it is shipped, except that the limits on what works at the same time are raised and
 * reflection is off, since it would be a third model call.
 */
final class TaskWorkload implements Workload {

    static final String SCRIPT = """
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

    @Mixin
    private Measurement.Times times = new Measurement.Times(15, 20);

    @Mixin
    private FleetOptions fleets = new FleetOptions();

    @Option(names = "--ingress", description = "http or lanes in place of a row's own.")
    private @Nullable Ingress ingress;

    /** How tasks get in. */
    enum Ingress {
        HTTP,
        LANES
    }

    /** What is measured, in this order. */
    static final List<Load> LOADS = List.of(
            new Load("low", "one task at a time, over HTTP", 1, true, false),
            new Load("mod", "8 tasks in flight, over HTTP", 8, true, false),
            new Load("sat", "64 tasks in flight, through the lanes", 64, false, false),
            new Load("sat512", "512 tasks in flight, through the lanes", 512, false, false),
            new Load("llm20", "100 tasks in flight, each model call takes 20 ms", 100, false, true));

    /**
     * One load.
     *
     * @param inFlight tasks at the same time
     * @param slow whether each model call takes 20 ms
     */
    record Load(String name, String summary, int inFlight, boolean http, boolean slow) {

        /** How long each model call takes. */
        int modelMs() {
            return slow ? 20 : 0;
        }

        /** Has Millrace work on it, by this way. */
        Driver driver(Fleet fleet, boolean overHttp) {
            String text = slow ? "a slow one" : "go";
            return overHttp
                    ? new HttpDriver(fleet.http(), text)
                    : new LaneDriver(fleet.kafka(), new LaneDriver.Tasks(fleet.topics(), text));
        }
    }

    /** A row of the results. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Row(
            String workload,
            String mode,
            String durability,
            @Nullable List<String> jvm,
            @JsonUnwrapped Measurement.Measured measured) {}

    private final List<Load> loads;
    private final String name;
    private final String summary;

    private TaskWorkload(String name, String summary, List<Load> loads) {
        this.name = name;
        this.summary = summary;
        this.loads = loads;
    }

    /** Each row by itself, and all of them one after the other on the same processes. */
    static List<Workload> all() {
        List<Workload> workloads = new ArrayList<>();
        workloads.add(new TaskWorkload("tasks", "low, mod, sat, sat512 and llm20 on the same processes", LOADS));
        LOADS.forEach(load -> workloads.add(new TaskWorkload(load.name(), load.summary(), List.of(load))));
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
    public void run(Report report) throws Exception {
        fleets.forEach((mode, durability) -> measure(mode, durability, report));
    }

    private void measure(Mode mode, Durability durability, Report report)
            throws IOException, InterruptedException, ExecutionException {
        Path folder = Files.createTempDirectory("millrace-bench-");
        Path script = Files.writeString(folder.resolve("script.yaml"), SCRIPT);
        List<String> jvm = fleets.jvm();
        report.progress(name + ": starting, " + mode.wireName() + ", " + durability.wireName());
        long begun = System.nanoTime();
        try (Fleet fleet = Fleet.start(mode, durability, folder, script, jvm);
                Admin admin = fleet.kafka().admin()) {
            double readySeconds = (System.nanoTime() - begun) / 1e9;
            report.progress(name + ": ready after " + Rounded.to(10, readySeconds) + " s, warming up");
            try (Driver driver = new LaneDriver(fleet.kafka(), new LaneDriver.Tasks(fleet.topics(), "warm up"))) {
                driver.keep(64, times.warmUp());
            }
            for (Load load : loads) {
                report.progress(load.name() + ": " + load.summary());
                try (Driver driver = load.driver(fleet, ingress == null ? load.http() : ingress == Ingress.HTTP)) {
                    driver.keep(load.inFlight(), times.beforeRow());
                    report.row(new Row(
                            load.name(),
                            mode.wireName(),
                            durability.wireName(),
                            jvm.isEmpty() ? null : jvm,
                            new Measurement(fleet::footprint, admin).of(driver, load.inFlight(), times.seconds())));
                }
            }
        } finally {
            Folders.delete(folder);
        }
    }
}
