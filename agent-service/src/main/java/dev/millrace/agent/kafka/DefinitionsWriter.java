package dev.millrace.agent.kafka;

import dev.millrace.agent.files.DefinitionPublisher;
import dev.millrace.schemas.kafka.ProducerSettings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts definitions on the topic, acknowledged by all replicas. Safe for any thread; waits. */
public final class DefinitionsWriter implements DefinitionPublisher, AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(DefinitionsWriter.class);

    private final KafkaProducer<byte[], byte[]> producer;
    private final String topic;

    /** {@code kafka} holds the connection's settings, such as {@code bootstrap.servers}. */
    public DefinitionsWriter(Map<String, Object> kafka, String topic) {
        this.producer = new KafkaProducer<>(
                ProducerSettings.prompt(kafka, "millrace-agent-definitions-writer"),
                new ByteArraySerializer(),
                new ByteArraySerializer());
        this.topic = topic;
    }

    @Override
    public boolean publish(String key, byte @Nullable [] value) throws InterruptedException {
        try {
            producer.send(new ProducerRecord<>(topic, key.getBytes(StandardCharsets.UTF_8), value))
                    .get();
            return true;
        } catch (ExecutionException | KafkaException e) {
            LOGGER.atWarn()
                    .addKeyValue("topic", topic)
                    .addKeyValue("key", key)
                    .addKeyValue("cause", e.toString())
                    .log("A definition could not be stored now");
            return false;
        }
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(5));
    }
}
