package dev.millrace.engine;

import java.time.Duration;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.streams.internals.ConsumerWrapper;

/**
 * The main consumer of a stream thread, which returns when a machine of this thread wants to commit: Streams looks for
 * what is due only then. Streams makes it by the name of its class.
 */
public final class CommittingConsumer extends ConsumerWrapper {

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        CommitTimes times = CommitTimes.ofThread();
        ConsumerRecords<byte[], byte[]> records = super.poll(times.waiting(timeout, System.currentTimeMillis()));
        times.waited(System.currentTimeMillis());
        return records;
    }
}
