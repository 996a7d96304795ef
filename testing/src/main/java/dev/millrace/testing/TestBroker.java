package dev.millrace.testing;

import dev.millrace.broker.BrokerStartException;
import dev.millrace.broker.EmbeddedBroker;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.kafka.KafkaContainer;

/**
 * The broker of this test JVM: started on first use, shared by all tests, gone with the JVM. In this process unless
 * {@code -Dmillrace.test.broker=container} asks for Testcontainers' Kafka. Safe to use from any thread; every method
 * that waits gives up after {@link #LIMIT} with an {@link AssertionError}.
 */
public final class TestBroker {

    /** Where the broker runs: {@code embedded} (default) or {@code container}. */
    public static final String MODE_PROPERTY = "millrace.test.broker";

    /** How many partitions {@link #createTopics()} gives to topics whose keys meet. */
    public static final int DEFAULT_PARTITIONS = 2;

    /** How long a single request to the broker may take. */
    public static final Duration LIMIT = Duration.ofSeconds(20);

    private static final String IMAGE = "apache/kafka:4.2.1";
    /** How one class loader tells the others (Quarkus has several in one JVM) where the broker is. */
    private static final String RUNNING_PROPERTY = "millrace.test.broker.bootstrap-servers";

    /** Held on to, because a logger that nobody holds forgets its level. */
    private static final List<Logger> QUIET = new ArrayList<>();

    private static @Nullable TestBroker shared;

    private final String bootstrapServers;
    private final Admin admin;
    private final KafkaProducer<byte[], byte[]> producer;

    private TestBroker(String bootstrapServers) {
        this.bootstrapServers = bootstrapServers;
        this.admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers));
        this.producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrapServers, "linger.ms", 0, "acks", "all"),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    /**
     * The broker of this JVM; starts it if need be, which takes about two seconds.
     *
     * @throws IllegalStateException if none can be had; {@link RequiresBroker} skips the test class before that
     */
    public static TestBroker shared() {
        // the string is interned, so it is one monitor for all class loaders
        synchronized (RUNNING_PROPERTY) {
            if (shared == null) {
                String running = System.getProperty(RUNNING_PROPERTY);
                if (running == null) {
                    quieten();
                    running = containerWanted() ? startContainer() : startEmbedded();
                    System.setProperty(RUNNING_PROPERTY, running);
                }
                shared = new TestBroker(running);
            }
            return shared;
        }
    }

    /** Why no broker can be had here, for people; empty if one can. Starts none. */
    static Optional<String> whyNot() {
        if (!containerWanted() || System.getProperty(RUNNING_PROPERTY) != null) {
            return Optional.empty();
        }
        if (DockerClientFactory.instance().isDockerAvailable()) {
            return Optional.empty();
        }
        return Optional.of("-D" + MODE_PROPERTY + "=container asks for a broker in a container, and no container engine"
                + " answers here. Start Docker (or point DOCKER_HOST to an engine), or leave the property away to use a"
                + " broker in this process.");
    }

    /** Where clients connect. */
    public String bootstrapServers() {
        return bootstrapServers;
    }

    /** An admin client that stays open; do not close it. */
    public Admin admin() {
        return admin;
    }

    /** Makes all topics under a prefix that no other test has, with {@value #DEFAULT_PARTITIONS} partitions. */
    public Topics createTopics() {
        return createTopics(DEFAULT_PARTITIONS);
    }

    /** Makes all topics under a prefix that no other test has. */
    public Topics createTopics(int partitions) {
        Topics topics = new Topics("t" + UUID.randomUUID().toString().substring(0, 8) + ".");
        TopicSetup.ensure(admin, topics, new TopicSettings(partitions, TopicSettings.BROKER_DEFAULT, true), LIMIT);
        return topics;
    }

    /** Deletes a topic and makes it again, as one that has nothing to do with the one before. */
    public void makeAgain(Topics topics, String topic, int partitions) {
        try {
            admin.deleteTopics(List.of(topic)).all().get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            long deadline = System.nanoTime() + LIMIT.toNanos();
            while (admin.listTopics()
                    .names()
                    .get(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                    .contains(topic)) {
                if (System.nanoTime() - deadline > 0) {
                    throw new AssertionError("The topic " + topic + " does not go away");
                }
                TimeUnit.MILLISECONDS.sleep(50);
            }
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError("Could not delete " + topic + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted while deleting " + topic, e);
        }
        TopicSetup.ensure(admin, topics, new TopicSettings(partitions, TopicSettings.BROKER_DEFAULT, true), LIMIT);
    }

    /** Puts an event on the lane that it belongs on, and waits until it is there. */
    public RecordMetadata produce(Topics topics, Event event) {
        return produce(topics.lane(event.lane()), event);
    }

    /** Puts an event on a topic, and waits until it is there. */
    public RecordMetadata produce(String topic, Event event) {
        ProducerRecord<String, byte[]> record = EventCodec.toRecord(topic, event);
        return produce(new ProducerRecord<>(
                topic,
                null,
                record.timestamp(),
                record.key().getBytes(StandardCharsets.UTF_8),
                record.value(),
                record.headers()));
    }

    /**
     * Puts a record on a topic the way a stranger with {@code kcat} does, and waits until it is there.
     *
     * @param key {@code null} = none, which leaves the partition to chance
     * @param headers in this order, values as UTF-8
     */
    public RecordMetadata produceRaw(
            String topic, @Nullable String key, Map<String, String> headers, byte @Nullable [] value) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(topic, key == null ? null : key.getBytes(StandardCharsets.UTF_8), value);
        headers.forEach((name, text) -> record.headers().add(name, text.getBytes(StandardCharsets.UTF_8)));
        return produce(record);
    }

    /** Puts a record on a topic exactly as it is, and waits until it is there. */
    public RecordMetadata produce(ProducerRecord<byte[], byte[]> record) {
        try {
            return producer.send(record).get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError("Could not produce to " + record.topic() + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted while producing to " + record.topic(), e);
        }
    }

    /** Reads topics from their first record on, committed records only. Close it. */
    public TopicReader read(String... topics) {
        return new TopicReader(bootstrapServers, List.of(topics));
    }

    /**
     * At INFO a broker prints more than a thousand lines; works where logging ends in java.util.logging, as in Quarkus.
     */
    private static void quieten() {
        for (String name : List.of("org.apache.kafka", "kafka", "state.change.logger", "org.testcontainers")) {
            Logger logger = Logger.getLogger(name);
            logger.setLevel(Level.WARNING);
            QUIET.add(logger);
        }
    }

    private static boolean containerWanted() {
        String mode = System.getProperty(MODE_PROPERTY, "embedded");
        return switch (mode) {
            case "embedded", "" -> false;
            case "container" -> true;
            default ->
                throw new IllegalStateException(
                        "-D" + MODE_PROPERTY + ": expected embedded or container, found " + mode);
        };
    }

    private static String startEmbedded() {
        try {
            Path target = Path.of("target");
            Path folder = Files.isDirectory(target)
                    ? Files.createTempDirectory(target, "test-broker-")
                    : Files.createTempDirectory("millrace-test-broker-");
            EmbeddedBroker broker = EmbeddedBroker.start(folder, 0);
            Runtime.getRuntime()
                    .addShutdownHook(
                            Thread.ofPlatform().name("test-broker-stop").unstarted(() -> {
                                broker.close();
                                delete(folder);
                            }));
            return broker.bootstrapServers();
        } catch (IOException | BrokerStartException e) {
            throw new IllegalStateException("The broker for the tests did not start: " + e.getMessage(), e);
        }
    }

    private static String startContainer() {
        KafkaContainer container = new KafkaContainer(IMAGE); // Testcontainers removes it when the JVM is gone
        EmbeddedBroker.portableSettings()
                .forEach((key, value) -> container.withEnv(
                        "KAFKA_" + key.toUpperCase(Locale.ROOT).replace('.', '_'), value));
        container.start();
        return container.getBootstrapServers().replaceFirst("^[A-Z]+://", "");
    }

    private static void delete(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> {
                try {
                    Files.delete(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } catch (IOException | UncheckedIOException e) {
            // left for `mvn clean`
        }
    }
}
