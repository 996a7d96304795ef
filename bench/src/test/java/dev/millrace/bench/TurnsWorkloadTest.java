package dev.millrace.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.bench.TurnsWorkload.Figures;
import java.util.List;
import org.junit.jupiter.api.Test;

class TurnsWorkloadTest {

    private static final Figures SLOW = new Figures(80, 12, 16);
    private static final Figures QUICK = new Figures(100, 9, 12);

    @Test
    void shouldSayHowManyTimesTheOther() {
        assertThat(QUICK.over(SLOW)).isEqualTo(new Figures(1.25, 0.75, 0.75));
    }

    @Test
    void shouldTakeTheMiddleOfEachFigure() {
        assertThat(Figures.median(List.of(QUICK, new Figures(90, 30, 1), SLOW), 10))
                .isEqualTo(new Figures(90, 12, 12));
        assertThat(Figures.median(List.of(SLOW, QUICK), 10)).isEqualTo(new Figures(90, 10.5, 14));
        assertThat(Figures.median(List.of(new Figures(1.2345, 2, 3)), 1_000)).isEqualTo(new Figures(1.235, 2, 3));
    }
}
