package dev.millrace.bench.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class FaultTest {

    private static final List<FaultKind> KINDS = List.of(FaultKind.values());

    @Test
    void shouldPlanTheSameForTheSameSeed() {
        assertThat(Fault.plan(7, 60, KINDS)).hasSize(60).isEqualTo(Fault.plan(7, 60, KINDS));
        assertThat(Fault.plan(7, 60, KINDS)).isNotEqualTo(Fault.plan(8, 60, KINDS));
    }

    @Test
    void shouldHaveEachKindOnceBeforeAnyComesAgain() {
        // when
        List<Fault> faults = Fault.plan(3, 2 * KINDS.size(), KINDS);

        // then
        assertThat(faults.subList(0, KINDS.size())).extracting(Fault::kind).containsExactlyInAnyOrderElementsOf(KINDS);
        assertThat(faults.subList(KINDS.size(), faults.size()))
                .extracting(Fault::kind)
                .containsExactlyInAnyOrderElementsOf(KINDS);
    }
}
