package dev.millrace.kafka;

import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * Publishes tool definitions on the compacted {@code definitions} topic. Reads what is there first and writes only what
 * differs, so that a restart adds nothing. For one thread.
 */
public final class ToolPublisher implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final ClientSettings kafka;
    private final String toolset;
    private final TopicLog log;
    private final TopicIdentity identity;
    private @Nullable TopicId publishedOn;

    /**
     * A publisher that connects when it publishes.
     *
     * @param toolset whose tools it answers for
     */
    public ToolPublisher(ClientSettings kafka, Topics topics, String toolset) {
        this.kafka = kafka;
        this.toolset = toolset;
        this.log = new TopicLog(kafka, topics.definitions(), "millrace-tools");
        this.identity = log.identity();
    }

    /**
     * Whether the topic is another one than the one that was published on, so that it has to be done again: it was
     * deleted and made again. False as well if the brokers do not say.
     */
    public boolean isOutdated() throws InterruptedException {
        TopicId before = publishedOn;
        return identity.find().filter(now -> !now.equals(before)).isPresent();
    }

    /**
     * Returns when every definition is on the topic and acknowledged, and those of this toolset that are no more have
     * been taken back. All instances of a toolset therefore have to have the same tools.
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
        List<ProducerRecord<String, byte[]>> changes = new ArrayList<>();
        definitions.stream()
                .filter(tool -> !Arrays.equals(there.get(ToolDefinition.key(tool.name())), tool.toJson()))
                .forEach(tool -> changes.add(change(tool.name(), tool.toJson())));
        there.values().stream()
                .flatMap(value -> nameOfOurs(value).stream())
                .filter(name -> !known.contains(name) && !mayCome.test(name))
                .forEach(name -> changes.add(change(name, null)));
        if (!changes.isEmpty()) {
            try (AcknowledgedProducer producer =
                    new AcknowledgedProducer(kafka.prompt("millrace-tools-publish"), LIMIT)) {
                producer.send(changes);
            }
        }
        publishedOn = topic;
        return changes.size();
    }

    private ProducerRecord<String, byte[]> change(String toolName, byte @Nullable [] value) {
        return new ProducerRecord<>(log.topic(), ToolDefinition.key(toolName), value);
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
        log.readAll(LIMIT, definition -> {
            String key = definition.key() == null ? "" : new String(definition.key(), StandardCharsets.UTF_8);
            if (definition.value() != null) {
                there.put(key, definition.value());
            } else {
                there.remove(key);
            }
        });
        return there;
    }

    /** Disconnects; what was published stays. */
    @Override
    public void close() {
        identity.close();
        log.close();
    }
}
