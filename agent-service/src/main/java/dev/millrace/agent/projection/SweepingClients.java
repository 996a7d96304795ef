package dev.millrace.agent.projection;

import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;

/**
 * Clients of Kafka Streams, of which that of a global store says when it polls: the store's processor has no timers,
 * what is too old has to go also while nothing comes, and what comes together is written together.
 */
final class SweepingClients extends DefaultKafkaClientSupplier {

    private volatile Polls polls = new Polls() {
        @Override
        public void begins() {}

        @Override
        public void brought(int records) {}
    };

    /** Told of each poll, on the thread that writes the global store. */
    interface Polls {

        /** One begins: whatever came before has been processed. */
        void begins();

        /** One has brought so many records, which are processed now. */
        void brought(int records);
    }

    /** Tells this from now on. */
    void tell(Polls told) {
        polls = told;
    }

    @Override
    public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer()) {
            @Override
            public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
                polls.begins();
                ConsumerRecords<byte[], byte[]> records = super.poll(timeout);
                polls.brought(records.count());
                return records;
            }
        };
    }
}
