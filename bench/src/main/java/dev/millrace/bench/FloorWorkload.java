package dev.millrace.bench;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.millrace.bench.Fleet.Durability;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@link FloorLoop} under the loads of {@link TaskWorkload}: what the figures of tasks are a ratio to. */
final class FloorWorkload implements Workload {

    private static final List<Integer> IN_FLIGHT = List.of(1, 8, 64, 512);

    @Mixin
    private Measurement.Times times = new Measurement.Times(15, 20);

    @Option(names = "--durability", description = "cache (Kafka's default), fsync (after every append), or both.")
    private FleetOptions.Durabilities durability = FleetOptions.Durabilities.BOTH;

    /** A row of the results. */
    private record Row(
            String workload,
            String durability,
            @JsonUnwrapped Measurement.Measured measured) {}

    @Override
    public String name() {
        return "floors";
    }

    @Override
    public String summary() {
        return "what Kafka alone does: a loop of plain clients, of Kafka Streams, and of Kafka Streams exactly once";
    }

    @Override
    public void run(Report report) throws Exception {
        for (Durability each : durability.each()) {
            for (FloorLoop.Kind kind : FloorLoop.Kind.values()) {
                report.progress("floors: " + kind.wireName() + ", " + each.wireName());
                measure(kind, each, report);
            }
        }
    }

    private void measure(FloorLoop.Kind kind, Durability each, Report report)
            throws IOException, InterruptedException, ExecutionException {
        try (Floor floor = Floor.start(kind, each);
                Admin admin = floor.kafka().admin()) {
            TaskWorkload.Load any = TaskWorkload.LOADS.getFirst();
            try (Driver driver = floor.driver(any)) {
                driver.keep(64, times.warmUp());
            }
            for (int inFlight : IN_FLIGHT) {
                try (Driver driver = floor.driver(any)) {
                    driver.keep(inFlight, 2);
                    report.row(new Row(
                            "floor-" + kind.wireName(),
                            each.wireName(),
                            new Measurement(floor::footprint, admin).of(driver, inFlight, times.seconds())));
                }
            }
        }
    }
}
