package dev.millrace.engine;

import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;

/**
 * The clients of a machine, as Streams makes them, with a producer that is flushed once in a commit. Streams commits
 * the partitions of a thread one after the other: it has the cache of the first send its changes and waits for the
 * producer, then that of the second, and so on, although all of it is one transaction of one producer. So each
 * partition with changes was a request of its own, which waited for the one before, and one more entry in the
 * transaction's log.
 */
final class MachineClients extends DefaultKafkaClientSupplier {

    @Override
    public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
        return new FlushedOnce(config);
    }

    private static final class FlushedOnce extends KafkaProducer<byte[], byte[]> {

        FlushedOnce(Map<String, Object> config) {
            super(config, new ByteArraySerializer(), new ByteArraySerializer());
        }

        /** Sends what all machines of this thread hold before it waits, so that nothing is left for the next call. */
        @Override
        public void flush() {
            CommitTimes.ofThread().commits(System.nanoTime());
            super.flush();
        }

        @Override
        public void commitTransaction() {
            super.commitTransaction();
            CommitTimes.ofThread().committed(System.nanoTime(), System.currentTimeMillis());
        }
    }
}
