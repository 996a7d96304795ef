package dev.millrace.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.ParameterException;

class BenchTest {

    private final StringWriter printed = new StringWriter();

    @Test
    void shouldRunWhatIsNamedInThisOrderAndElseTheWholeTable() {
        assertThat(parse("sat", "low", "--mode", "one"))
                .extracting(Workload::name)
                .containsExactly("sat", "low");
        assertThat(parse())
                .extracting(Workload::name)
                .containsExactly("floors", "tasks", "long", "idle", "recovery", "backlog");
    }

    @Test
    void shouldTakeDefaultsOfEachWorkloadIfNothingIsSaid() {
        assertThat(parse("backlog").getFirst()).hasFieldOrPropertyWithValue("cancelled", 40);
        assertThat(parse("crash").getFirst()).hasFieldOrPropertyWithValue("tasks", 16);
        assertThat(parse("recovery").getFirst()).extracting("modes").isEqualTo(FleetOptions.Modes.BOTH);
    }

    @Test
    void shouldGiveAnOptionToEveryWorkloadThatKnowsIt() {
        List<Workload> chosen = parse("backlog", "crash", "--tasks", "7", "--records=10", "--kafka", "linger.ms=5");

        assertThat(chosen.getFirst())
                .hasFieldOrPropertyWithValue("cancelled", 7)
                .hasFieldOrPropertyWithValue("records", 10);
        assertThat(chosen.getFirst()).extracting("clients.settings").isEqualTo(Map.of("linger.ms", "5"));
        assertThat(chosen.getLast()).hasFieldOrPropertyWithValue("tasks", 7);
    }

    @Test
    void shouldSayWhatWasExpected() {
        assertThatThrownBy(() -> parse("lwo"))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("expected one of [tasks, low, mod,")
                .hasMessageContaining("found lwo");
        assertThatThrownBy(() -> parse("backlog", "--recods", "10")).hasMessageContaining("'--recods'");
        assertThatThrownBy(() -> parse("backlog", "--records", "-1"))
                .hasMessage("Invalid value for option '--records': expected a number, found -1");
        assertThatThrownBy(() -> parse("backlog", "--records")).hasMessageContaining("'--records'");
        assertThatThrownBy(() -> parse("low", "--mode", "two"))
                .hasMessageContaining("'--mode'")
                .hasMessageContaining("expected one of [one, services, both], found two");
        assertThatThrownBy(() -> parse("crash", "--only", "kill-agent,kill-time"))
                .hasMessageContaining("expected one of [kill-agent,")
                .hasMessageContaining("found kill-time");
    }

    @Test
    void shouldTakeNamesOfPeersBehindTheWorkload() {
        assertThat(parse("peers", "--rounds", "1", "restate", "kafka-streams-eos")
                        .getFirst())
                .hasFieldOrPropertyWithValue("names", List.of(Contender.RESTATE, Contender.KAFKA_STREAMS_EOS));
        assertThat(parse("peers", "millrace").getFirst())
                .hasFieldOrPropertyWithValue("names", List.of(Contender.MILLRACE));
        assertThatThrownBy(() -> parse("peers", "restat")).hasMessageContaining("'restat'");
    }

    @Test
    void shouldTakeTwoClonesBehindTurns() {
        assertThat(parse("turns", "../before", ".", "--in-flight", "1,64", "--turns", "5")
                        .getFirst())
                .hasFieldOrPropertyWithValue("clones", List.of(Path.of("../before"), Path.of(".")))
                .hasFieldOrPropertyWithValue("inFlight", List.of(1, 64))
                .hasFieldOrPropertyWithValue("turns", 5);
        assertThatThrownBy(() -> parse("turns", ".")).hasMessageContaining("CLONE");
    }

    @Test
    void shouldHelp() {
        assertThat(parse("--help")).isEmpty();
        assertThat(parse("backlog", "sat", "--help")).isEmpty();

        assertThat(printed.toString())
                .contains("low  ", "bench sat [", "one task at a time, over HTTP")
                .contains("--records=<records>", "Events in the low lanes.", "Default: 200000", "--out=FILE");
    }

    private List<Workload> parse(String... args) {
        return new Bench().parse(List.of(args), new PrintWriter(printed, true));
    }
}
