package dev.millrace.knowledge.config;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.ToolPublisher;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.kafka.TopicSetupException;
import dev.millrace.knowledge.kafka.KnowledgeFollower;
import dev.millrace.knowledge.tools.KnowledgeTools;
import dev.millrace.requests.RequestWorker;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The service as one object: waits for brokers and topics as long as it takes, follows its topic, publishes its tools,
 * and takes requests as soon as the index is as the topic is.
 */
public final class KnowledgeRuntime implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(KnowledgeRuntime.class);
    private static final Duration TOPIC_DEADLINE = Duration.ofSeconds(20);
    private static final Duration PAUSE = Duration.ofSeconds(3);
    private static final Duration LOOK = Duration.ofMillis(100);
    private static final Duration LOOK_AT_TOOLS = Duration.ofSeconds(5);

    private final Installation installation;
    private final KnowledgeFollower follower;
    private final Supplier<RequestWorker> startWorker;
    private final Runnable forget;
    private final ToolPublisher publisher;
    private final AtomicReference<@Nullable RequestWorker> worker = new AtomicReference<>();
    private final Thread starter =
            Thread.ofPlatform().name("knowledge-start").daemon().unstarted(this::run);
    private volatile String waitingFor = "the start";
    private volatile boolean closed;

    /** Where it is. */
    public record Installation(ClientSettings kafka, Topics topics, TopicSettings settings) {}

    /**
     * A runtime that has not begun.
     *
     * @param startWorker called once, when the index is as the topic is
     * @param forget called again and again, to take away what has been forgotten
     */
    public KnowledgeRuntime(
            Installation installation,
            KnowledgeFollower follower,
            Supplier<RequestWorker> startWorker,
            Runnable forget) {
        this.installation = installation;
        this.follower = follower;
        this.startWorker = startWorker;
        this.forget = forget;
        this.publisher = new ToolPublisher(installation.kafka(), installation.topics(), Topics.KNOWLEDGE_TOOLSET);
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
        Optional<String> problem = follower.problem();
        return problem.isPresent() || running.isReady() ? problem : Optional.of("waiting for the Kafka brokers");
    }

    private void run() {
        try {
            while (!closed && !prepare()) {
                Thread.sleep(PAUSE);
            }
            follower.start();
            while (!closed && !follower.isCaughtUp()) {
                waitingFor = follower.problem().orElse("the index, which is being built");
                Thread.sleep(LOOK);
            }
            if (!closed) {
                worker.set(startWorker.get());
            }
            long lookedAt = System.nanoTime();
            while (!closed) {
                forget.run();
                if (System.nanoTime() - lookedAt > LOOK_AT_TOOLS.toNanos()) {
                    lookedAt = System.nanoTime();
                    publishIfOutdated();
                }
                Thread.sleep(LOOK.multipliedBy(5));
            }
        } catch (InterruptedException e) {
            LOGGER.debug("Stopped starting");
        } finally {
            publisher.close();
        }
    }

    private boolean prepare() throws InterruptedException {
        try {
            TopicSetup.ensure(installation.kafka(), installation.topics(), installation.settings(), TOPIC_DEADLINE);
            publisher.publish(KnowledgeTools.definitions(), name -> false);
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

    private void publishIfOutdated() throws InterruptedException {
        try {
            if (publisher.isOutdated()) {
                publisher.publish(KnowledgeTools.definitions(), name -> false);
            }
        } catch (KafkaException e) {
            LOGGER.atError().addKeyValue("cause", e.toString()).log("The tools could not be published; trying again");
        }
    }

    /** Takes no more requests, lets those that run come to their end for the grace period, and commits the index. */
    @Override
    public void close() {
        closed = true;
        starter.interrupt();
        waitingFor = "nothing: it is stopping";
        RequestWorker running = worker.getAndSet(null);
        if (running != null) {
            running.close();
        }
        follower.close();
    }
}
