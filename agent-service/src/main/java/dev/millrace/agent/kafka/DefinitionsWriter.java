package dev.millrace.agent.kafka;

import dev.millrace.agent.files.DefinitionPublisher;
import dev.millrace.kafka.AcknowledgedProducer;
import dev.millrace.kafka.ClientSettings;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts definitions on the topic, acknowledged by all replicas. Safe for any thread; waits. */
public final class DefinitionsWriter implements DefinitionPublisher, AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(DefinitionsWriter.class);

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final AcknowledgedProducer producer;
    private final String topic;

    /** {@code kafka} holds the connection's settings, such as {@code bootstrap.servers}. */
    public DefinitionsWriter(ClientSettings kafka, String topic) {
        this.producer = new AcknowledgedProducer(kafka.prompt("millrace-agent-definitions-writer"), LIMIT);
        this.topic = topic;
    }

    @Override
    public boolean publish(String key, byte @Nullable [] value) throws InterruptedException {
        try {
            producer.send(List.of(new ProducerRecord<>(topic, key, value)));
            return true;
        } catch (KafkaException e) {
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
        producer.close();
    }
}
