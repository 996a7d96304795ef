package dev.millrace.bench.micro;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.agent.topology.StreamsTranscripts;
import dev.millrace.agent.topology.TaskStores;
import dev.millrace.bench.Folders;
import dev.millrace.engine.StoreSection;
import dev.millrace.schemas.Event;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What it costs to read the transcript of the newest task for a model call out of its store, which is RocksDB and has
 * the transcripts of {@value #OTHERS} other tasks as well.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class TranscriptBenchmark {

    private static final int OTHERS = 100;
    private static final int OTHER_ENTRIES = 40;

    /** How long the transcript is; every other entry has a result of 5 KB. */
    @Param({"10", "100"})
    public int entries = 10;

    /** Of how many calls that have ended RocksDB has the deletion: they stand behind the newest transcript. */
    @Param({"0", "10000"})
    public int ended = 0;

    private final Path folder = folder();
    private final TopologyTestDriver driver = new TopologyTestDriver(topology(), settings(folder));
    private final KeyValueStore<Bytes, byte[]> rows = driver.getKeyValueStore(TaskStores.ROWS);
    private final KeyValueStore<String, TranscriptEntry> store = TaskStores.TRANSCRIPTS.in(rows);
    private OutstandingCall call = callAfter(entries);

    /** Fills the store, which is more than RocksDB keeps in memory before it writes a file. */
    @Setup
    public void setUp() {
        for (int i = 0; i < OTHERS; i++) {
            fill(Event.qualified(Event.DEFAULT_NAMESPACE, "0197" + i + UsualTask.TASK_ID), OTHER_ENTRIES);
        }
        rows.flush();
        List<Bytes> calls = IntStream.range(0, ended)
                .mapToObj(i -> Bytes.wrap(("l" + UsualTask.TASK_ID + '/' + i).getBytes(StandardCharsets.UTF_8)))
                .toList();
        calls.forEach(key -> rows.put(key, new byte[] {0}));
        rows.flush();
        calls.forEach(rows::delete);
        rows.flush();
        // the machine has not committed it yet, so it is in the cache
        call = callAfter(entries);
        fill(call.taskKey(), entries);
    }

    /** Closes it and takes it away. */
    @TearDown
    public void tearDown() {
        driver.close();
        Folders.delete(folder);
    }

    /** All that the model is shown. */
    @Benchmark
    public List<TranscriptEntry> read() {
        return StreamsTranscripts.shown(rows, call).orElseThrow();
    }

    private void fill(String taskKey, int count) {
        for (int seq = 0; seq < count; seq++) {
            store.put(
                    TaskStores.transcriptKey(taskKey, seq),
                    seq % 2 == 0 ? UsualTask.callEntry() : UsualTask.resultEntry());
        }
    }

    private static OutstandingCall callAfter(int entries) {
        return new OutstandingCall(
                UsualTask.TASK_ID + "/2/0",
                Event.DEFAULT_NAMESPACE,
                UsualTask.TASK_ID,
                null,
                UsualTask.TASK_ID,
                UsualTask.TASK_ID,
                null,
                AgentPin.NONE,
                100,
                2,
                entries,
                OutstandingCall.Shown.ALL,
                0,
                0);
    }

    private static Path folder() {
        try {
            return Files.createTempDirectory("millrace-bench-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Nothing but the store, as the task topology has it. */
    private static Topology topology() {
        return new Topology()
                .addSource(
                        "tasks",
                        Serdes.String().deserializer(),
                        Serdes.ByteArray().deserializer(),
                        "tasks")
                .addProcessor("machine", Idle::new, "tasks")
                .addStateStore(StoreSection.store(TaskStores.ROWS).withLoggingDisabled(), "machine");
    }

    private static Properties settings(Path folder) {
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "millrace-bench");
        settings.put(StreamsConfig.STATE_DIR_CONFIG, folder.toString());
        return settings;
    }

    /** Somebody has to have the store. */
    private static final class Idle extends ContextualProcessor<String, byte[], String, byte[]> {
        @Override
        public void process(Record<String, byte[]> record) {}
    }
}
