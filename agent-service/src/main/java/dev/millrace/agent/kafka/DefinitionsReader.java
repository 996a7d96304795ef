package dev.millrace.agent.kafka;

import dev.millrace.agent.DefinitionTaker;
import dev.millrace.schemas.MalformedEventException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a compacted topic, that of definitions or that of memory, from its beginning and follows it, on a thread of its own, and gives each
 * definition to whoever takes its kind. A broker that goes away is waited for.
 */
public final class DefinitionsReader implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(DefinitionsReader.class);
    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(3);
    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

    private final Function<String, @Nullable DefinitionTaker> takers;
    private final List<DefinitionTaker> watchers;
    private final CountDownLatch caughtUp = new CountDownLatch(1);
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final String topic;
    private volatile boolean closed;
    // of the reader's thread
    private long lookedAt = System.nanoTime();

    /**
     * A reader that has not started.
     *
     * @param kafka the connection's settings, such as {@code bootstrap.servers}
     * @param takers by kind, which is what a key has before its first slash; other kinds are passed over
     */
    public DefinitionsReader(Map<String, Object> kafka, String topic, Map<String, DefinitionTaker> takers) {
        this(kafka, topic, takers::get, List.copyOf(takers.values()));
    }

    /**
     * A reader that has not started.
     *
     * @param takers who takes a kind; {@code null} = nobody does
     */
    public DefinitionsReader(
            Map<String, Object> kafka, String topic, Function<String, @Nullable DefinitionTaker> takers) {
        this(kafka, topic, takers, List.of());
    }

    private DefinitionsReader(
            Map<String, Object> kafka,
            String topic,
            Function<String, @Nullable DefinitionTaker> takers,
            List<DefinitionTaker> watchers) {
        Map<String, Object> config = new HashMap<>(kafka);
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        // what a machine writes counts when its transaction does
        config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        config.put(ConsumerConfig.CLIENT_ID_CONFIG, "millrace-agent-" + topic);
        this.consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        this.topic = topic;
        this.takers = takers;
        this.watchers = watchers;
    }

    /** Starts the thread. Once. */
    public void start() {
        Thread.ofPlatform().name("read-" + topic).daemon().start(this::run);
    }

    /** Waits until what was on the topic at the start has been read; false if that takes longer. */
    public boolean awaitCaughtUp(Duration timeout) throws InterruptedException {
        return caughtUp.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        closed = true;
        consumer.wakeup();
        try {
            if (!stopped.await(5, TimeUnit.SECONDS)) {
                LOGGER.warn("The reader of the definitions did not stop in time");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try (consumer) {
            Map<TopicPartition, Long> goal = begin();
            while (!closed) {
                try {
                    consumer.poll(POLL).forEach(this::take);
                    lookAgain();
                    if (caughtUp.getCount() > 0 && hasReached(goal)) {
                        caughtUp.countDown();
                    }
                } catch (WakeupException e) {
                    LOGGER.debug("Woken up to stop");
                } catch (KafkaException e) {
                    pauseAfter(e);
                }
            }
        } finally {
            stopped.countDown();
        }
    }

    private void lookAgain() {
        if (System.nanoTime() - lookedAt > LOOK_AGAIN.toNanos()) {
            watchers.forEach(DefinitionTaker::lookAgain);
            lookedAt = System.nanoTime();
        }
    }

    private Map<TopicPartition, Long> begin() {
        while (!closed) {
            try {
                List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                        .map(info -> new TopicPartition(info.topic(), info.partition()))
                        .toList();
                consumer.assign(partitions);
                consumer.seekToBeginning(partitions);
                return consumer.endOffsets(partitions);
            } catch (WakeupException e) {
                LOGGER.debug("Woken up to stop");
            } catch (KafkaException e) {
                pauseAfter(e);
            }
        }
        return Map.of();
    }

    private boolean hasReached(Map<TopicPartition, Long> goal) {
        return goal.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
    }

    private void take(ConsumerRecord<byte[], byte[]> definition) {
        String key = definition.key() == null ? "" : new String(definition.key(), StandardCharsets.UTF_8);
        int slash = key.indexOf('/');
        DefinitionTaker taker = slash < 0 ? null : takers.apply(key.substring(0, slash));
        if (taker == null) {
            return;
        }
        try {
            taker.take(key.substring(slash + 1), definition.value());
        } catch (MalformedEventException e) {
            LOGGER.atWarn()
                    .addKeyValue("topic", definition.topic())
                    .addKeyValue("partition", definition.partition())
                    .addKeyValue("offset", definition.offset())
                    .addKeyValue("key", key)
                    .addKeyValue("errorCode", e.code())
                    .addKeyValue("problem", e.getMessage())
                    .log("A definition could not be read and is left out");
        }
    }

    private void pauseAfter(KafkaException e) {
        LOGGER.atWarn()
                .addKeyValue("topic", topic)
                .addKeyValue("cause", e.toString())
                .log("The definitions cannot be read now; trying again");
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_AFTER_FAILURE.toMillis());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            closed = true;
        }
    }
}
