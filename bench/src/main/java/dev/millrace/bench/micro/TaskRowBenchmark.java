package dev.millrace.bench.micro;

import dev.millrace.agent.topology.StoreSerdes;
import dev.millrace.agent.topology.StoredTask;
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

/** What it costs to write and to read the row of a task that waits for its tool calls, without the store. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class TaskRowBenchmark {

    /** How many tool calls it waits for. */
    @Param({"1", "32"})
    public int calls = 1;

    private static final Serde<StoredTask> SERDE = StoreSerdes.TASK;
    private StoredTask value = UsualTask.withToolCalls(calls).row();
    private byte[] bytes = {};

    /** Makes the value. */
    @Setup
    public void setUp() {
        value = UsualTask.withToolCalls(calls).row();
        bytes = write();
    }

    /** Value to bytes. */
    @Benchmark
    public byte[] write() {
        return SERDE.serializer().serialize("", value);
    }

    /** Bytes to value. */
    @Benchmark
    public StoredTask read() {
        return SERDE.deserializer().deserialize("", bytes);
    }
}
