package dev.millrace.bench.micro;

import dev.millrace.agent.core.TranscriptEntry;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.serialization.Serde;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** What it costs to write and to read the entry of a transcript that has a result of 5 KB, without the store. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class TranscriptEntryBenchmark {

    /** How it is kept. */
    @Param
    public StateFormat format = StateFormat.JSON;

    private Serde<TranscriptEntry> serde = format.serde(TranscriptEntry.class);
    private TranscriptEntry value = UsualTask.resultEntry();
    private byte[] bytes = {};

    /** Makes the value. */
    @Setup
    public void setUp() {
        serde = format.serde(TranscriptEntry.class);
        value = UsualTask.resultEntry();
        bytes = write();
    }

    /** Value to bytes. */
    @Benchmark
    public byte[] write() {
        return serde.serializer().serialize("", value);
    }

    /** Bytes to value. */
    @Benchmark
    public TranscriptEntry read() {
        return serde.deserializer().deserialize("", bytes);
    }
}
