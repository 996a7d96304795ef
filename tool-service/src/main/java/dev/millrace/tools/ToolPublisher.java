package dev.millrace.tools;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Publishes tool definitions on the compacted {@code definitions} topic. Reads what is there first and writes only what
 * differs, so that a restart adds nothing.
 */
public final class ToolPublisher {

    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final Map<String, Object> kafka;
    private final Topics topics;

    public ToolPublisher(Map<String, Object> kafka, Topics topics) {
        this.kafka = Map.copyOf(kafka);
        this.topics = topics;
    }

    /**
     * Returns when every definition is on the topic and acknowledged.
     *
     * @return how many had to be written
     * @throws KafkaException if the brokers do not answer in time or refuse
     */
    public int publish(List<ToolDefinition> definitions) throws InterruptedException {
        Map<String, byte[]> there = read();
        Map<String, Object> config = new HashMap<>(kafka);
        config.put("acks", "all");
        try (KafkaProducer<String, byte[]> producer =
                new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer())) {
            List<Future<RecordMetadata>> written = definitions.stream()
                    .filter(tool -> !Arrays.equals(there.get(ToolDefinition.key(tool.name())), tool.toJson()))
                    .map(tool -> producer.send(
                            new ProducerRecord<>(topics.definitions(), ToolDefinition.key(tool.name()), tool.toJson())))
                    .toList();
            for (Future<RecordMetadata> acknowledged : written) {
                acknowledged.get();
            }
            return written.size();
        } catch (ExecutionException e) {
            throw new KafkaException("the tool definitions could not be published", e.getCause());
        }
    }

    private Map<String, byte[]> read() {
        Map<String, byte[]> there = new HashMap<>();
        try (KafkaConsumer<String, byte[]> consumer =
                new KafkaConsumer<>(kafka, new StringDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topics.definitions(), LIMIT).stream()
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, LIMIT);
            long deadline = System.nanoTime() + LIMIT.toNanos();
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey(), LIMIT) < end.getValue())) {
                if (System.nanoTime() - deadline > 0) {
                    throw new KafkaException("the definitions could not be read within " + LIMIT.toSeconds() + " s");
                }
                consumer.poll(POLL).forEach(definition -> {
                    if (definition.key() != null && definition.value() != null) {
                        there.put(definition.key(), definition.value());
                    }
                });
            }
        }
        return there;
    }
}
