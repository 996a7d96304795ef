package dev.millrace.bench;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.millrace.kafka.ToolPublisher;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How the cost of a task grows with what is there besides: {@link Curve}s of a few points, as rows and as pictures. */
final class CurvesWorkload implements Workload {

    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int IN_FLIGHT = 64;
    /** Conversations side by side: so many that each gets only some turns further while a point is measured. */
    private static final int SESSIONS = 128;

    @Option(
            names = "--curves",
            split = ",",
            showDefaultValue = Visibility.NEVER,
            description = "tools, turns, tasks, partitions; else all.")
    private List<Curve> curves = List.of(Curve.values());

    @Option(names = "--tasks", description = "How many tasks are kept at the end of that curve.")
    private int mostTasks = 100_000;

    @Mixin
    private Measurement.Times times = new Measurement.Times(10, 20);

    @Option(names = "--pictures", paramLabel = "FOLDER", description = "Gets a picture of each curve, as SVG.")
    private Path pictures = Path.of("bench", "target");

    /** What grows. */
    enum Curve {
        TOOLS("tools in the catalogue"),
        TURNS("turns of a conversation"),
        TASKS("tasks kept"),
        PARTITIONS("partitions");

        private final String axis;

        Curve(String axis) {
            this.axis = axis;
        }

        /** Where on its axis it is measured. */
        int[] places() {
            return switch (this) {
                case TOOLS -> new int[] {1, 10, 100, 1_000};
                case TURNS -> new int[] {1, 10, 50, 100, 200};
                case TASKS -> new int[] {1_000, 10_000, 100_000, 1_000_000};
                case PARTITIONS -> new int[] {1, 2, 4, 12};
            };
        }

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** What the horizontal axis says. */
        String axis() {
            return axis;
        }
    }

    /** A point of a curve; the tasks are those of {@code sat}, of {@code turns} with a conversation before them. */
    record Row(String curve, int value, @JsonUnwrapped Measurement.Measured measured) {}

    @Override
    public String name() {
        return "curves";
    }

    @Override
    public String summary() {
        return "CPU and bytes per task over tools, turns of a conversation, tasks kept and partitions, as pictures,"
                + " too";
    }

    @Override
    public void run(Report report) throws Exception {
        Files.createDirectories(pictures);
        for (Curve curve : curves) {
            List<Row> rows = new ArrayList<>();
            switch (curve) {
                case PARTITIONS -> {
                    for (int partitions : curve.places()) {
                        measure(curve, new int[] {partitions}, partitions, rows, report);
                    }
                }
                case TASKS ->
                    measure(
                            curve,
                            IntStream.of(curve.places())
                                    .filter(n -> n <= mostTasks)
                                    .toArray(),
                            2,
                            rows,
                            report);
                case TOOLS, TURNS -> measure(curve, curve.places(), 2, rows, report);
            }
            Path picture = pictures.resolve("curve-" + curve.label() + ".svg");
            Files.writeString(picture, CurvePicture.of(curve, rows).toSvg());
            report.progress("curves: " + picture);
        }
    }

    /** The points of a curve that one installation can give, one after the other. */
    private void measure(Curve curve, int[] values, int partitions, List<Row> rows, Report report) throws Exception {
        Path folder = Files.createTempDirectory("millrace-bench-");
        Path script = Files.writeString(folder.resolve("script.yaml"), TaskWorkload.SCRIPT);
        try (Fleet fleet = Fleet.start(
                        Fleet.Mode.ONE,
                        Fleet.Durability.CACHE,
                        folder,
                        script,
                        List.of("-Dmillrace.topics.partitions=" + partitions));
                Admin admin = fleet.kafka().admin()) {
            try (Driver driver = new LaneDriver(fleet.kafka(), new LaneDriver.Tasks(fleet.topics(), "warm up"))) {
                driver.keep(IN_FLIGHT, times.warmUp());
            }
            int sessions = curve == Curve.TURNS ? SESSIONS : 0;
            LaneDriver.Tasks tasks =
                    new LaneDriver.Tasks(fleet.topics(), "go", KnownEventType.TASK_COMPLETED, sessions);
            Measurement measurement = new Measurement(fleet::footprint, admin);
            int done = 0;
            for (int value : values) {
                report.progress("curves: " + value + ' ' + curve.axis());
                if (curve == Curve.TOOLS) {
                    publish(fleet, value);
                }
                try (LaneDriver driver = new LaneDriver(fleet.kafka(), tasks)) {
                    driver.keep(IN_FLIGHT);
                    int before = curve == Curve.TASKS ? value : value * sessions;
                    while (done + driver.count() < before) {
                        Thread.sleep(Duration.ofMillis(100));
                    }
                    done += driver.count();
                    Row row = new Row(curve.label(), value, measurement.of(driver, IN_FLIGHT, times.seconds()));
                    done += row.measured().tasks();
                    rows.add(row);
                    report.row(row);
                }
            }
        } finally {
            Folders.delete(folder);
        }
    }

    /** Adds to the tools of tool-service, since nobody is shown tools that are not served; returns when they are. */
    private static void publish(Fleet fleet, int tools) throws IOException, InterruptedException {
        try (ToolPublisher publisher =
                new ToolPublisher(fleet.kafka().settings(), fleet.topics(), Topics.BUILT_IN_TOOLSET)) {
            publisher.publish(
                    IntStream.range(0, tools).mapToObj(CurvesWorkload::tool).toList(), name -> true);
        }
        HttpRequest listing =
                HttpRequest.newBuilder(fleet.http().resolve("/v1/tools")).build();
        String last = '"' + tool(tools - 1).name() + '"';
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        try (HttpClient client = HttpClient.newHttpClient()) {
            while (!client.send(listing, BodyHandlers.ofString()).body().contains(last)) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException("expected " + tools + " tools to be listed within " + PATIENCE);
                }
                Thread.sleep(Duration.ofMillis(100));
            }
        }
    }

    private static ToolDefinition tool(int number) {
        return new ToolDefinition(
                "bench_" + number,
                "Tells what there is to know about subject " + number + ", as text.",
                JsonObject.of(Map.of("type", "object", "properties", Map.of("question", Map.of("type", "string")))),
                Topics.BUILT_IN_TOOLSET,
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.READ_ONLY);
    }
}
