package dev.millrace.bench.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RepeatsTest {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final Fault KILL = new Fault(1, FaultKind.KILL_AGENT, 0, Duration.ZERO, Duration.ZERO);
    private static final NavigableMap<Instant, Fault> STRUCK = new TreeMap<>(Map.of(at(10), KILL));

    private final Findings findings = new Findings();

    @Test
    void shouldCountWhatACrashRepeats() {
        // when
        Repeats repeats = Repeats.count(
                Map.of(
                        "a/1/1", List.of(at(9), at(12)),
                        "b/1/1", List.of(at(9), at(13)),
                        "b/2/1", List.of(at(14)),
                        "reflection/c/1", List.of(at(1))),
                STRUCK,
                findings);

        // then
        assertThat(repeats.calls()).isEqualTo(4);
        assertThat(repeats.total()).isEqualTo(2);
        assertThat(repeats.after(KILL)).isEqualTo(2);
        assertThat(repeats.mostOfOneTask(KILL)).isEqualTo(1);
        assertThat(findings.all()).isEmpty();
    }

    @Test
    void shouldFindMoreRepetitionsOfATaskThanACrashAllows() {
        // when
        Repeats.count(
                Map.of("a/1/1", List.of(at(9), at(12)), "a/2/1", List.of(at(13), at(14), at(15))), STRUCK, findings);

        // then
        assertThat(findings.all()).singleElement().asString().contains("at most 2", "a/");
    }

    @Test
    void shouldFindARepetitionWithoutAFault() {
        // when
        Repeats.count(Map.of("a/1/1", List.of(at(1), at(2))), STRUCK, findings);

        // then
        assertThat(findings.all()).singleElement().asString().contains("a/1/1", "before the first fault");
    }

    private static Instant at(int second) {
        return START.plusSeconds(second);
    }
}
