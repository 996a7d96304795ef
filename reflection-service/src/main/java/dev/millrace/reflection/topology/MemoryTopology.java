package dev.millrace.reflection.topology;

import dev.millrace.engine.ModelCalls;
import dev.millrace.engine.OpenStores;
import dev.millrace.engine.Outgoing;
import dev.millrace.engine.Sender;
import dev.millrace.engine.StoreSection;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Set;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.StoreBuilder;

/**
 * The topology of the memory machine: one source over its request topics, one processor with the stores, one sink.
 * Whatever concerns a namespace meets on one partition, so a document has one writer. Names of nodes and stores are
 * part of the state.
 */
public final class MemoryTopology {

    private static final String SOURCE = "requests";
    private static final String PROCESSOR = "memory-machine";
    private static final String SINK = "out";

    private MemoryTopology() {}

    /**
     * Builds the topology.
     *
     * @param modelCalls makes the model calls of reflections
     * @param rows by which others read what the machine has written
     */
    public static Topology build(
            MemorySettings settings, ModelCalls<ReflectionCall> modelCalls, OpenStores rows, MeterRegistry meters) {
        Topology topology = new Topology();
        topology.addSource(
                AutoOffsetReset.earliest(),
                SOURCE,
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer(),
                settings.topics().memoryRequests(),
                settings.topics().reflectionRequests());
        topology.addProcessor(
                PROCESSOR,
                new ProcessorSupplier<byte[], byte[], byte[], Outgoing>() {
                    @Override
                    public Processor<byte[], byte[], byte[], Outgoing> get() {
                        return new MemoryProcessor(settings, modelCalls, rows, meters);
                    }

                    @Override
                    public Set<StoreBuilder<?>> stores() {
                        return Set.of(StoreSection.store(MemoryStores.ROWS));
                    }
                },
                SOURCE);
        Sender.addSink(topology, SINK, PROCESSOR);
        return topology;
    }
}
