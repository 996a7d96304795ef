package dev.millrace.bench;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.millrace.bench.Fleet.Durability;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The same agent loop on other engines, in rounds: each engine once in each round, on processes and data of its own, so
 * that what the machine does meanwhile happens to all of them. Compare rows of one run only.
 */
final class PeersWorkload implements Workload {

    private static final List<String> LOADS = List.of("low", "mod", "sat", "llm20");
    private static final int WARM_UP_IN_FLIGHT = 32;

    @Parameters(paramLabel = "NAME", description = "Who is compared: ${COMPLETION-CANDIDATES}.")
    private List<Contender> names = List.of(
            Contender.MILLRACE,
            Contender.MILLRACE_FSYNC,
            Contender.RESTATE,
            Contender.LITTLEHORSE,
            Contender.KAFKA_STREAMS,
            Contender.KAFKA_STREAMS_EOS);

    @Option(names = "--rounds", description = "How often each of them is started and measured.")
    private int rounds = 3;

    @Mixin
    private Measurement.Times times = new Measurement.Times(10, 40);

    @Option(names = "--table", paramLabel = "FILE", description = "Gets the table as Markdown as well.")
    private @Nullable Path tableFile;

    /**
     * A row of the results.
     *
     * @param durability when a step counts as done
     */
    record Row(
            int round,
            String peer,
            String load,
            String durability,
            @JsonUnwrapped Measurement.Measured measured) {}

    @Override
    public String name() {
        return "peers";
    }

    @Override
    public String summary() {
        return "Millrace beside Restate, LittleHorse and Kafka alone, in rounds: low, mod, sat and llm20";
    }

    @Override
    public void run(Report report) throws Exception {
        report.progress("peers: fetching and compiling, once");
        PeerSources sources = PeerSources.prepare(names);
        Surroundings surroundings = Surroundings.now();
        List<Row> rows = new ArrayList<>();
        try {
            for (int round = 1; round <= rounds; round++) {
                for (Contender contender : names) {
                    report.progress("peers: round " + round + " of " + rounds + ", " + contender.label());
                    measure(round, contender, sources, row -> {
                        rows.add(row);
                        report.row(row);
                    });
                }
            }
        } finally {
            String table = new PeerTable(surroundings, times.seconds(), rows).toMarkdown();
            report.progress(table);
            if (tableFile != null) {
                Files.writeString(tableFile, table);
            }
        }
    }

    private void measure(int round, Contender contender, PeerSources sources, Consumer<Row> rows)
            throws IOException, InterruptedException, ExecutionException {
        try (Peer peer = start(contender, sources)) {
            List<TaskWorkload.Load> loads = TaskWorkload.LOADS.stream()
                    .filter(load -> LOADS.contains(load.name()) && !(load.slow() && contender.isFloor()))
                    .toList();
            try (Driver driver = peer.driver(loads.getFirst())) {
                driver.keep(WARM_UP_IN_FLIGHT, times.warmUp());
            }
            for (TaskWorkload.Load load : loads) {
                try (Driver driver = peer.driver(load)) {
                    driver.keep(load.inFlight(), times.beforeRow());
                    Measurement measurement = new Measurement(peer::footprint, null);
                    rows.accept(new Row(
                            round,
                            contender.label(),
                            load.name(),
                            contender.durability(),
                            measurement.of(driver, load.inFlight(), times.seconds())));
                }
            }
        }
    }

    private static Peer start(Contender contender, PeerSources sources)
            throws IOException, InterruptedException, ExecutionException {
        return switch (contender) {
            case MILLRACE -> MillracePeer.start(Durability.CACHE);
            case MILLRACE_FSYNC -> MillracePeer.start(Durability.FSYNC);
            case RESTATE -> RestatePeer.start(sources);
            case LITTLEHORSE -> LittleHorsePeer.start(sources);
            case KAFKA_CLIENTS -> Floor.start(FloorLoop.Kind.CLIENTS, Durability.CACHE);
            case KAFKA_STREAMS -> Floor.start(FloorLoop.Kind.STREAMS, Durability.CACHE);
            case KAFKA_STREAMS_EOS -> Floor.start(FloorLoop.Kind.STREAMS_EOS, Durability.CACHE);
        };
    }
}
