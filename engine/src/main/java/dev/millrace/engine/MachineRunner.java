package dev.millrace.engine;

import dev.millrace.schemas.Topics;
import dev.millrace.schemas.kafka.TopicSettings;
import dev.millrace.schemas.kafka.TopicSetup;
import dev.millrace.schemas.kafka.TopicSetupException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.errors.StreamsNotStartedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts a machine on a thread of its own, waiting for brokers and topics as long as it takes, and stops it. What is special
 * about a machine is in {@link Steps}.
 */
public final class MachineRunner implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(MachineRunner.class);
    private static final Duration TOPIC_DEADLINE = Duration.ofSeconds(20);
    private static final Duration PAUSE = Duration.ofSeconds(3);

    private final Map<String, Object> kafka;
    private final Installation installation;
    private final Steps steps;
    private final AtomicReference<@Nullable MachineStreams> machine = new AtomicReference<>();
    private final Thread starter;
    private volatile String waitingFor = "the start";
    private volatile boolean closed;

    /** The topics of the installation. */
    public record Installation(Topics topics, TopicSettings settings) {}

    /** What this machine does on its way up. Called on the starter's thread. */
    public interface Steps {

        /**
         * Does what has to be done before the machine starts, the topics being there.
         *
         * @return what is still waited for, for people, and it is called again; {@code null} = all is done
         * @throws KafkaException if the brokers do not answer; then it is called again
         */
        @Nullable
        String prepare() throws InterruptedException;

        /** The machine, not started; called again if it could not start. */
        MachineStreams machine();

        /** It has started. */
        void started();
    }

    /**
     * A runner that has not started.
     *
     * @param kafka how to reach the brokers
     * @param name of its thread
     */
    public MachineRunner(Map<String, Object> kafka, String name, Installation installation, Steps steps) {
        this.kafka = kafka;
        this.installation = installation;
        this.steps = steps;
        this.starter = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
    }

    /** Begins to start and returns at once. Once. */
    public void start() {
        starter.start();
    }

    /** Empty if the machine takes records; else what it waits for or why it stopped, for people. */
    public Optional<String> notReady() {
        MachineStreams running = machine.get();
        if (running == null) {
            return Optional.of(waitingFor);
        }
        return running.fatal()
                .map(failure -> "stopped: " + failure)
                .or(() -> running.ready() ? Optional.empty() : Optional.of("waiting for partitions"));
    }

    /** Why the machine stopped for good; empty while it runs or may still recover. */
    public Optional<Throwable> fatal() {
        return Optional.ofNullable(machine.get()).flatMap(MachineStreams::fatal);
    }

    /** The machine for queries of its stores, which throw until it has started. */
    public Supplier<KafkaStreams> streams() {
        return () -> {
            MachineStreams running = machine.get();
            if (running == null) {
                throw new StreamsNotStartedException("the machine has not started");
            }
            return running.streams();
        };
    }

    private void run() {
        try {
            awaitTopics();
            awaitPrepared();
            while (!closed && !startMachine()) {
                Thread.sleep(PAUSE);
            }
        } catch (InterruptedException e) {
            LOGGER.debug("Stopped while starting");
        }
    }

    private void awaitTopics() throws InterruptedException {
        while (!closed) {
            try {
                TopicSetup.ensure(kafka, installation.topics(), installation.settings(), TOPIC_DEADLINE);
                return;
            } catch (TopicSetupException e) {
                waitingFor = String.valueOf(e.getMessage());
                LOGGER.atError().log(e.getMessage());
            }
            Thread.sleep(PAUSE);
        }
    }

    private void awaitPrepared() throws InterruptedException {
        while (!closed) {
            try {
                String missing = steps.prepare();
                if (missing == null) {
                    return;
                }
                waitingFor = missing;
                LOGGER.atWarn().addKeyValue("waitingFor", missing).log("Still waiting");
            } catch (KafkaException e) {
                waitingFor = "the Kafka brokers: " + e.getMessage();
                LOGGER.atError().addKeyValue("cause", e.toString()).log("The brokers do not answer; trying again");
                Thread.sleep(PAUSE);
            }
        }
    }

    /** False if it could not start, which may pass: another process may still hold the state folder. */
    private boolean startMachine() {
        MachineStreams streams = steps.machine();
        machine.set(streams);
        try {
            streams.start();
        } catch (KafkaException | IllegalStateException e) {
            machine.set(null);
            streams.close();
            waitingFor = "a start without a failure: " + e.getMessage();
            LOGGER.atError().setCause(e).log("A machine could not start; trying again");
            return false;
        }
        if (closed) {
            streams.close();
        } else {
            steps.started();
        }
        return true;
    }

    /** Starts nothing any more; what runs goes on. */
    public void stopStarting() {
        closed = true;
        starter.interrupt();
    }

    /** Commits, leaves the group and stops. */
    @Override
    public void close() {
        stopStarting();
        MachineStreams running = machine.get();
        if (running != null) {
            running.close();
        }
    }
}
