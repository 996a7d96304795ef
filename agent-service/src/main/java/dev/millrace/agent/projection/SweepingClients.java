package dev.millrace.agent.projection;

import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;

/**
 * Clients of Kafka Streams, of which that of a global store does something before each poll: its processor has no
 * timers, and what is too old has to go also while nothing comes.
 */
final class SweepingClients extends DefaultKafkaClientSupplier {

    private volatile Runnable work = () -> {};

    /** From now on does this, on the thread that writes the global store. */
    void sweep(Runnable sweeping) {
        work = sweeping;
    }

    @Override
    public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer()) {
            @Override
            public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
                work.run();
                return super.poll(timeout);
            }
        };
    }
}
