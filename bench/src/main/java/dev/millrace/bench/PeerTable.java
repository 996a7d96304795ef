package dev.millrace.bench;

import dev.millrace.bench.Measurement.Measured;
import dev.millrace.bench.PeersWorkload.Row;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** What came of a comparison, for people: medians of all rounds, and their ratio to Restate's. */
record PeerTable(Surroundings surroundings, int seconds, List<Row> rows) {

    PeerTable {
        rows = List.copyOf(rows);
    }

    String toMarkdown() {
        StringBuilder table = new StringBuilder("""
                Commit %s, %s, JDK %s, %d cores, %s, load %s before; %d s for each row. Medians of all rounds; × is the ratio to Restate.

                | load | engine | durability | rounds | tasks/s | × | p50 ms | × | p99 ms | CPU ms per task | RSS MB |
                |---|---|---|---|---|---|---|---|---|---|---|
                """.formatted(
                        surroundings.commit(),
                        surroundings.at(),
                        surroundings.jdk(),
                        surroundings.cores(),
                        surroundings.os(),
                        surroundings.loadBefore(),
                        seconds));
        for (String load : rows.stream().map(Row::load).distinct().toList()) {
            List<Row> ofLoad =
                    rows.stream().filter(row -> row.load().equals(load)).toList();
            List<Row> restate = of(Contender.RESTATE.label(), ofLoad);
            for (String peer : ofLoad.stream().map(Row::peer).distinct().toList()) {
                List<Row> own = of(peer, ofLoad);
                table.append("| `%s` | %s | %s | %d | %s | %s | %s | %s | %s | %s | %s |\n"
                        .formatted(
                                load,
                                peer,
                                own.getFirst().durability(),
                                own.size(),
                                text("%.0f", median(own, Measured::tasksPerSecond)),
                                text(
                                        "%.2f",
                                        median(own, Measured::tasksPerSecond)
                                                / median(restate, Measured::tasksPerSecond)),
                                text("%.1f", median(own, PeerTable::p50)),
                                text("%.2f", median(own, PeerTable::p50) / median(restate, PeerTable::p50)),
                                text(
                                        "%.1f",
                                        median(
                                                own,
                                                measured -> measured.latency().p99Ms())),
                                text("%.2f", median(own, Measured::cpuMsPerTask)),
                                text("%.0f", median(own, Measured::rssMb))));
            }
        }
        return table.toString();
    }

    private static List<Row> of(String peer, List<Row> rows) {
        return rows.stream().filter(row -> row.peer().equals(peer)).toList();
    }

    private static double p50(Measured measured) {
        return measured.tasks() == 0 ? Double.NaN : measured.latency().p50Ms();
    }

    /** Not a number if there is none. */
    private static double median(List<Row> rows, ToDoubleFunction<Measured> value) {
        return Rounded.median(rows.stream().map(Row::measured).mapToDouble(value));
    }

    private static String text(String format, double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, format, value) : "–";
    }
}
