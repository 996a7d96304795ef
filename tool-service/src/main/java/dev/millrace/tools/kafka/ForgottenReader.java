package dev.millrace.tools.kafka;

import dev.millrace.schemas.ForgottenSet;
import dev.millrace.schemas.Topics;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** Knows what has been forgotten: whoever asks first reads up to the end of the topic. Safe for any thread. */
public final class ForgottenReader implements AutoCloseable {

    private static final int RECORDS_AT_ONCE = 1_000;

    private final TopicClients clients;
    private final String topic;
    private final ForgottenSet forgotten = new ForgottenSet();

    /** Connects when it is first asked. */
    public ForgottenReader(Map<String, Object> kafka, Topics topics) {
        this.topic = topics.forgotten();
        // what was forgotten once stays so, as long as this instance knows it
        this.clients = new TopicClients(kafka, RECORDS_AT_ONCE, topic, () -> {});
    }

    /**
     * All that had been forgotten when this was called.
     *
     * @throws KafkaException if that cannot be found out
     */
    public ForgottenSet upToNow() throws InterruptedException {
        return clients.read(in -> {
            if (in.assignment().isEmpty()) {
                // a new consumer: what is known may be read once more, which changes nothing
                List<TopicPartition> all = in.partitionsFor(topic, TopicClients.READ_LIMIT).stream()
                        .map(info -> new TopicPartition(topic, info.partition()))
                        .toList();
                in.assign(all);
                in.seekToBeginning(all);
            }
            readUpToTheEnd(in);
            return forgotten;
        });
    }

    private void readUpToTheEnd(KafkaConsumer<String, byte[]> in) {
        Map<TopicPartition, Long> ends = in.endOffsets(in.assignment(), TopicClients.READ_LIMIT);
        long deadline = System.nanoTime() + TopicClients.READ_LIMIT.toNanos();
        while (ends.entrySet().stream()
                .anyMatch(end -> in.position(end.getKey(), TopicClients.READ_LIMIT) < end.getValue())) {
            if (System.nanoTime() - deadline >= 0) {
                throw new KafkaException(
                        topic + " not read to the end within " + TopicClients.READ_LIMIT.toSeconds() + " s");
            }
            try {
                in.poll(TopicClients.POLL).forEach(found -> forgotten.take(found.value()));
            } catch (OffsetOutOfRangeException e) {
                // nobody has asked for longer than the retention
                in.seekToBeginning(e.partitions());
            }
        }
    }

    @Override
    public void close() {
        clients.close();
    }
}
