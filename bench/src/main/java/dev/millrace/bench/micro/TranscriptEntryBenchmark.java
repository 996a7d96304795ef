package dev.millrace.bench.micro;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.topology.StoreSerdes;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.serialization.Serde;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** What it costs to write and to read the entry of a transcript that has a result of 5 KB, without the store. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class TranscriptEntryBenchmark {

    private static final Serde<TranscriptEntry> SERDE = StoreSerdes.TRANSCRIPT_ENTRY;
    private TranscriptEntry value = UsualTask.resultEntry();
    private byte[] bytes = {};

    /** Makes the value. */
    @Setup
    public void setUp() {
        value = UsualTask.resultEntry();
        bytes = write();
    }

    /** Value to bytes. */
    @Benchmark
    public byte[] write() {
        return SERDE.serializer().serialize("", value);
    }

    /** Bytes to value. */
    @Benchmark
    public TranscriptEntry read() {
        return SERDE.deserializer().deserialize("", bytes);
    }
}
