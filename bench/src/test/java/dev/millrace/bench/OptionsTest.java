package dev.millrace.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.bench.Fleet.Mode;
import java.util.List;
import org.junit.jupiter.api.Test;

class OptionsTest {

    private static final Option RECORDS = new Option("records", "20", "");
    private static final Option MODE = new Option("mode", "both", "");

    @Test
    void shouldReadPairs() {
        Options options = Options.parse(List.of("--records", "10", "--kafka.linger.ms", "5"));

        assertThat(options.number(RECORDS)).isEqualTo(10);
        assertThat(options.kafka()).containsEntry("linger.ms", "5").hasSize(1);
        assertThatThrownBy(() -> Options.parse(List.of("records", "10"))).hasMessageContaining("found records");
        assertThatThrownBy(() -> Options.parse(List.of("--records"))).hasMessageContaining("found --records");
    }

    @Test
    void shouldTakeTheDefaultIfNothingIsSaid() {
        Options options = Options.parse(List.of());

        assertThat(options.number(RECORDS)).isEqualTo(20);
        assertThat(options.choices(MODE, Mode.values())).containsExactly(Mode.ONE, Mode.SERVICES);
    }

    @Test
    void shouldSayWhatWasExpected() {
        assertThatThrownBy(() -> Options.parse(List.of("--recods", "10")).requireKnown(List.of(RECORDS)))
                .hasMessage("expected one of [--records], found --recods");
        assertThatThrownBy(() -> Options.parse(List.of("--records", "-1")).number(RECORDS))
                .hasMessage("--records: expected a number, found -1");
        assertThatThrownBy(() -> Options.parse(List.of("--mode", "two")).choices(MODE, Mode.values()))
                .hasMessage("--mode: expected one of [one, services] or both, found two");
    }
}
