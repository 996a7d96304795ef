package dev.millrace.schemas.kafka;

import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.Collectors;
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
import org.jspecify.annotations.Nullable;

/**
 * Publishes tool definitions on the compacted {@code definitions} topic. Reads what is there first and writes only what
 * differs, so that a restart adds nothing. For one thread.
 */
public final class ToolPublisher implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final Map<String, Object> kafka;
    private final Topics topics;
    private final String toolset;
    private final TopicIdentity identity;
    private @Nullable TopicId publishedOn;

    /**
     * A publisher that connects when it publishes.
     *
     * @param toolset whose tools it answers for
     */
    public ToolPublisher(Map<String, Object> kafka, Topics topics, String toolset) {
        this.kafka = Map.copyOf(kafka);
        this.topics = topics;
        this.toolset = toolset;
        this.identity = TopicIdentity.of(this.kafka, topics.definitions());
    }

    /**
     * Whether the topic is another one than the one that was published on, so that it has to be done again: it was deleted
     * and made again. False as well if the brokers do not say.
     */
    public boolean isOutdated() throws InterruptedException {
        TopicId before = publishedOn;
        return identity.find().filter(now -> !now.equals(before)).isPresent();
    }

    /**
     * Returns when every definition is on the topic and acknowledged, and those of this toolset that are no more have been
     * taken back. All instances of a toolset therefore have to have the same tools.
     *
     * @param mayCome whether a tool of this name, which is not among the definitions, may still come, so that its
     *     definition of old stays
     * @return how many records had to be written
     * @throws KafkaException if the brokers do not answer in time or refuse
     */
    public int publish(List<ToolDefinition> definitions, Predicate<String> mayCome) throws InterruptedException {
        TopicId topic = identity.find().orElse(null);
        Map<String, byte[]> there = read();
        Set<String> known = definitions.stream().map(ToolDefinition::name).collect(Collectors.toSet());
        Map<String, Object> config = new HashMap<>(kafka);
        config.put("acks", "all");
        try (KafkaProducer<String, byte[]> producer =
                new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer())) {
            List<Future<RecordMetadata>> written = new ArrayList<>();
            definitions.stream()
                    .filter(tool -> !Arrays.equals(there.get(ToolDefinition.key(tool.name())), tool.toJson()))
                    .forEach(tool -> written.add(send(producer, tool.name(), tool.toJson())));
            there.values().stream()
                    .flatMap(value -> nameOfOurs(value).stream())
                    .filter(name -> !known.contains(name) && !mayCome.test(name))
                    .forEach(name -> written.add(send(producer, name, null)));
            for (Future<RecordMetadata> acknowledged : written) {
                acknowledged.get();
            }
            publishedOn = topic;
            return written.size();
        } catch (ExecutionException e) {
            throw new KafkaException("the tool definitions could not be published", e.getCause());
        }
    }

    private Future<RecordMetadata> send(
            KafkaProducer<String, byte[]> producer, String toolName, byte @Nullable [] value) {
        return producer.send(new ProducerRecord<>(topics.definitions(), ToolDefinition.key(toolName), value));
    }

    /** The name of the tool, if this service answers for it. */
    private Optional<String> nameOfOurs(byte[] value) {
        try {
            ToolDefinition tool = ToolDefinition.fromJson(value);
            return tool.toolset().equals(toolset) ? Optional.of(tool.name()) : Optional.empty();
        } catch (MalformedEventException e) {
            return Optional.empty();
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
                    } else if (definition.key() != null) {
                        there.remove(definition.key());
                    }
                });
            }
        }
        return there;
    }

    /** Disconnects; what was published stays. */
    @Override
    public void close() {
        identity.close();
    }
}
