package dev.millrace.gateway.kafka;

import dev.millrace.gateway.kafka.JournalFilter.Labels;
import dev.millrace.gateway.kafka.Mailbox.Letter;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.kafka.TopicIdentity;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How the journal is read: committed records only, without a group, as entries. */
final class JournalReader {
    private static final Logger LOGGER = LoggerFactory.getLogger(JournalReader.class);

    /** What an entry weighs beside its payload: its fields and the objects that they are in. */
    private static final int ENTRY_WEIGHT = 512;

    private final Map<String, Object> kafka;
    private final Map<String, Object> config;
    private final String topic;

    JournalReader(Map<String, Object> kafka, String topic) {
        this.kafka = Map.copyOf(kafka);
        this.topic = topic;
        Map<String, Object> ours = new HashMap<>(kafka);
        ours.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        ours.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        ours.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        // only when the place that was asked for has been deleted: what is left is better than nothing
        ours.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        ours.put(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 1_000);
        ours.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 5_000);
        ours.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, 5_000);
        this.config = Map.copyOf(ours);
    }

    /** A new consumer with nothing assigned; it connects when it is used. */
    Consumer<byte[], byte[]> open(String purpose) {
        return open(purpose, Map.of());
    }

    /** The same with further settings. */
    Consumer<byte[], byte[]> open(String purpose, Map<String, Object> more) {
        Map<String, Object> ours = new HashMap<>(config);
        ours.putAll(more);
        ours.put(ConsumerConfig.CLIENT_ID_CONFIG, "millrace-gateway-" + purpose);
        return new KafkaConsumer<>(ours, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Which topic it is. */
    TopicIdentity identity() {
        return TopicIdentity.of(kafka, topic);
    }

    TopicPartition partition(int partition) {
        return new TopicPartition(topic, partition);
    }

    static Labels labels(ConsumerRecord<byte[], byte[]> consumed) {
        return Labels.of(consumed.headers(), consumed.timestamp());
    }

    /** The record as an entry; {@code null} if it is no event. */
    static @Nullable Letter letter(ConsumerRecord<byte[], byte[]> consumed) {
        try {
            JournalEntry entry = new JournalEntry(
                    new JournalCursor(consumed.partition(), consumed.offset()),
                    EventCodec.fromRecord(
                            consumed.headers(), consumed.value(), Instant.ofEpochMilli(consumed.timestamp())));
            long weight = ENTRY_WEIGHT + (consumed.value() == null ? 0 : JsonWeight.of(consumed.value()));
            return new Letter(entry, (int) Math.min(weight, Integer.MAX_VALUE));
        } catch (MalformedEventException e) {
            LOGGER.atDebug()
                    .addKeyValue("partition", consumed.partition())
                    .addKeyValue("offset", consumed.offset())
                    .addKeyValue("errorCode", e.code())
                    .log("The journal holds a record that is no event; listeners do not see it");
            return null;
        }
    }

    /** What the record takes as it is, unread. */
    static int weight(ConsumerRecord<byte[], byte[]> consumed) {
        return ENTRY_WEIGHT + Math.max(0, consumed.serializedValueSize());
    }
}
