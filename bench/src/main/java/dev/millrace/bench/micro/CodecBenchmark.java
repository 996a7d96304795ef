package dev.millrace.bench.micro;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** What it costs to take an event off a topic, to check it and to put it on one. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class CodecBenchmark {

    /** Which event. */
    @Param({"MESSAGE_RECEIVED", "TOOL_CALL_COMPLETED", "REASON_DONE"})
    public KnownEventType type = KnownEventType.MESSAGE_RECEIVED;

    private Event event = UsualTask.event(type);
    private ProducerRecord<String, byte[]> bytes = EventCodec.toRecord("journal", event);

    /** Makes the event. */
    @Setup
    public void setUp() {
        event = UsualTask.event(type);
        bytes = EventCodec.toRecord("journal", event);
        if (!EventSchemas.problems(event).isEmpty()) {
            throw new IllegalStateException("no such event would be taken: " + EventSchemas.problems(event));
        }
    }

    /** Event to record. */
    @Benchmark
    public ProducerRecord<String, byte[]> write() {
        return EventCodec.toRecord("journal", event);
    }

    /** Record to event. */
    @Benchmark
    public Event read() throws MalformedEventException {
        return EventCodec.fromRecord(bytes.headers(), bytes.value(), Instant.EPOCH);
    }

    /** The payload against its JSON Schema. */
    @Benchmark
    public List<String> check() {
        return EventSchemas.problems(event);
    }
}
