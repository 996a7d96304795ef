package dev.millrace.tools.config;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.ToolPublisher;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.kafka.TopicSetupException;
import dev.millrace.requests.RequestWorker;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.tools.ToolRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tool service as one object: waits for brokers and topics as long as it takes, publishes the tools, then takes
 * requests, and publishes the tools again when they change, or their topic was made again, on a thread of its own.
 */
public final class ToolRuntime implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(ToolRuntime.class);
    private static final Duration TOPIC_DEADLINE = Duration.ofSeconds(20);
    private static final Duration PAUSE = Duration.ofSeconds(3);
    /** Several servers that come up together make one change. */
    private static final Duration SETTLE = Duration.ofMillis(200);
    /** How often is looked whether their topic is still the same. */
    private static final Duration LOOK = Duration.ofSeconds(5);

    private final ClientSettings kafka;
    private final Topics topics;
    private final TopicSettings topicSettings;
    private final ToolRegistry registry;
    private final List<ToolDefinition> foreign;
    private final Supplier<RequestWorker> startWorker;
    private final Supplier<RequestWorker> startWebhooks;
    private final ToolPublisher publisher;
    private final Semaphore changes = new Semaphore(0);
    private final AtomicReference<@Nullable RequestWorker> worker = new AtomicReference<>();
    private final AtomicReference<@Nullable RequestWorker> webhookWorker = new AtomicReference<>();
    private final Thread starter =
            Thread.ofPlatform().name("tools-start").daemon().unstarted(this::run);
    private volatile String waitingFor = "the start";
    private volatile boolean closed;

    /**
     * A runtime that has not begun.
     *
     * @param foreign definitions that it publishes for workers of others
     * @param startWorker called once, when brokers and topics are there; likewise {@code startWebhooks}
     */
    public ToolRuntime(
            ClientSettings kafka,
            Topics topics,
            TopicSettings topicSettings,
            ToolRegistry registry,
            List<ToolDefinition> foreign,
            Supplier<RequestWorker> startWorker,
            Supplier<RequestWorker> startWebhooks) {
        this.kafka = kafka;
        this.topics = topics;
        this.topicSettings = topicSettings;
        this.registry = registry;
        this.foreign = List.copyOf(foreign);
        this.startWorker = startWorker;
        this.startWebhooks = startWebhooks;
        this.publisher = new ToolPublisher(this.kafka, topics, Topics.BUILT_IN_TOOLSET);
        registry.onChange(changes::release);
    }

    /** Begins to start and returns at once. Once. */
    public void start() {
        starter.start();
    }

    /** Empty if requests are taken; else what it waits for, for people. */
    public Optional<String> notReady() {
        RequestWorker running = worker.get();
        if (running == null) {
            return Optional.of(waitingFor);
        }
        return running.isReady() ? Optional.empty() : Optional.of("waiting for the Kafka brokers");
    }

    private void run() {
        try {
            while (!closed && !prepare()) {
                Thread.sleep(PAUSE);
            }
            if (!closed) {
                worker.set(startWorker.get());
                webhookWorker.set(startWebhooks.get());
            }
            while (!closed) {
                followChanges();
            }
            stopWorker();
        } catch (InterruptedException e) {
            LOGGER.debug("Stopped starting, or following changes of tools");
        } finally {
            publisher.close();
        }
    }

    /** Waits a little for a change and publishes it; several in a row are one. */
    private void followChanges() throws InterruptedException {
        if (changes.tryAcquire(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
            Thread.sleep(SETTLE);
            changes.drainPermits();
        } else if (!publisher.isOutdated()) {
            return;
        }
        try {
            publish();
        } catch (KafkaException e) {
            LOGGER.atError().addKeyValue("cause", e.toString()).log("The tools could not be published; trying again");
            Thread.sleep(PAUSE);
            changes.release();
        }
    }

    private void publish() throws InterruptedException {
        List<ToolDefinition> definitions = new ArrayList<>(registry.definitions());
        definitions.addAll(foreign);
        int written = publisher.publish(definitions, registry::mayGet);
        LOGGER.atInfo()
                .addKeyValue("tools", definitions.size())
                .addKeyValue("written", written)
                .log("The tools are published");
    }

    private boolean prepare() throws InterruptedException {
        try {
            TopicSetup.ensure(kafka, topics, topicSettings, TOPIC_DEADLINE);
            publish();
            return true;
        } catch (TopicSetupException e) {
            waitingFor = String.valueOf(e.getMessage());
            LOGGER.atError().log(e.getMessage());
        } catch (KafkaException e) {
            waitingFor = "the Kafka brokers: " + e.getMessage();
            LOGGER.atError().addKeyValue("cause", e.toString()).log("The tools could not be published; trying again");
        }
        return false;
    }

    private void stopWorker() {
        // webhooks first, since they only go back to the topic
        for (RequestWorker running : new RequestWorker[] {webhookWorker.getAndSet(null), worker.getAndSet(null)}) {
            if (running != null) {
                running.close();
            }
        }
    }

    /** Takes no more requests, waits for running calls for the grace period, and gives the rest back to the topic. */
    @Override
    public void close() {
        closed = true;
        starter.interrupt();
        waitingFor = "nothing: it is stopping";
        stopWorker();
    }
}
