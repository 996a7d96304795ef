package dev.millrace.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.bench.PeersWorkload.Row;
import dev.millrace.schemas.Json;
import java.util.List;
import org.junit.jupiter.api.Test;

class PeersTest {

    private static final Surroundings SURROUNDINGS =
            new Surroundings("abc1234", "2026-01-01T00:00:00Z", "25", 2, 1024, "Linux amd64", 0.1, 1500);

    @Test
    void shouldShowMediansOfRoundsAndTheirRatioToRestate() {
        // when
        String table = new PeerTable(
                        SURROUNDINGS,
                        10,
                        List.of(
                                row(1, "millrace", "sat", 100, 40),
                                row(1, "restate", "sat", 200, 20),
                                row(2, "millrace", "sat", 120, 44),
                                row(3, "millrace", "sat", 500, 4),
                                row(1, "millrace", "llm20", 90, 50)))
                .toMarkdown();

        // then
        assertThat(table)
                .contains("Commit abc1234,", "2 cores", "10 s for each row")
                .contains("| `sat` | millrace | page cache | 3 | 120 | 0.60 | 40.0 | 2.00 | 99.0 | 1.50 | 300 |")
                .contains("| `sat` | restate | page cache | 1 | 200 | 1.00 | 20.0 | 1.00 | 99.0 | 1.50 | 300 |")
                .contains("| `llm20` | millrace | page cache | 1 | 90 | – | 50.0 | – | 99.0 | 1.50 | 300 |");
    }

    @Test
    void shouldWriteARowAsOneFlatObjectWithoutWhatIsAbsent() {
        assertThat(Json.writeText(row(1, "restate", "sat", 200, 20)))
                .isEqualTo(
                        "{\"round\":1,\"peer\":\"restate\",\"load\":\"sat\",\"durability\":\"page cache\",\"ingress\":\"http\","
                                + "\"inFlight\":64,\"seconds\":10.0,\"tasks\":2000,\"tasksPerSecond\":200.0,"
                                + "\"latency\":{\"count\":2000,\"p50Ms\":20.0,\"p95Ms\":98.0,\"p99Ms\":99.0,\"maxMs\":100.0},"
                                + "\"cpuMsPerTask\":1.5,\"rssMb\":300,\"coresBusy\":2.0}");
    }

    private static Row row(int round, String peer, String load, double tasksPerSecond, double p50Ms) {
        int tasks = (int) (tasksPerSecond * 10);
        Latencies.Summary latency = new Latencies.Summary(tasks, p50Ms, 98, 99, 100);
        return new Row(
                round,
                peer,
                load,
                "page cache",
                new Measurement.Measured(
                        "http", 64, 10, tasks, tasksPerSecond, latency, 1.5, null, null, null, 300, 2));
    }
}
