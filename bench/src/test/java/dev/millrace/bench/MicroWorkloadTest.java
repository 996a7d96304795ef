package dev.millrace.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MicroWorkloadTest {

    @Test
    void shouldKnowTheBenchmarksOfEachLayer() {
        assertThat(MicroWorkload.names(""))
                .contains(
                        "dev.millrace.bench.micro.CoreBenchmark.wholeTask",
                        "dev.millrace.bench.micro.CodecBenchmark.check",
                        "dev.millrace.bench.micro.TaskRowBenchmark.write",
                        "dev.millrace.bench.micro.TranscriptEntryBenchmark.read",
                        "dev.millrace.bench.micro.TranscriptBenchmark.read");
    }

    @Test
    void shouldTakeThoseThatTheFilterNames() {
        assertThat(MicroWorkload.names("Codec.*(read|write)"))
                .containsExactly(
                        "dev.millrace.bench.micro.CodecBenchmark.read",
                        "dev.millrace.bench.micro.CodecBenchmark.write");
        assertThat(MicroWorkload.names("no such benchmark")).isEmpty();
    }
}
