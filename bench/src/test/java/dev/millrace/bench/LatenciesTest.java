package dev.millrace.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LatenciesTest {

    @Test
    void shouldGiveTheNearestRank() {
        Latencies hundred = Latencies.of(
                IntStream.rangeClosed(1, 100).mapToObj(i -> (double) (101 - i)).toList());

        assertThat(hundred.percentile(0.5)).isEqualTo(50);
        assertThat(hundred.percentile(0.95)).isEqualTo(95);
        assertThat(hundred.max()).isEqualTo(100);
        assertThat(Latencies.of(List.of(7.0)).percentile(0.5)).isEqualTo(7);
        assertThat(Latencies.of(List.of()).max()).isNaN();
    }
}
