package dev.millrace.engine;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.kafka.TopicSetupException;
import dev.millrace.schemas.Topics;
import java.io.UncheckedIOException;
import java.time.Duration;
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
 * Starts a machine on a thread of its own, waiting for brokers and topics as long as it takes, and stops it. Another
 * machine takes its place when its local state failed, and when its group has forgotten it. Local state of another
 * cluster is deleted before the start; a machine whose changelog is gone does not start, since that state may be all
 * that there is. What is special about a machine is in {@link Steps}.
 */
public final class MachineRunner implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(MachineRunner.class);
    private static final Duration TOPIC_DEADLINE = Duration.ofSeconds(20);
    private static final Duration PAUSE = Duration.ofSeconds(3);
    /** A machine that runs is looked at so often. */
    private static final Duration LOOK = Duration.ofSeconds(5);

    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(15);

    private final ClientSettings kafka;
    private final Installation installation;
    private final Steps steps;
    private final AtomicReference<@Nullable MachineStreams> machine = new AtomicReference<>();
    private final Thread starter;
    private final IdleMachineWatch idle;
    private final Repairs repairs = new Repairs();
    private @Nullable Provenance provenance;
    private boolean startedBefore;
    private volatile @Nullable Throwable gaveUp;
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

        /** The machine, not started; called again if it could not start, or another one has to take its place. */
        MachineStreams machine();

        /** It has started; not called again for one that takes its place. */
        void started();

        /** Called every few seconds while it runs, for what has to be looked after. */
        default void lookAgain() throws InterruptedException {}
    }

    /**
     * A runner that has not started.
     *
     * @param kafka how to reach the brokers
     * @param name of its thread
     */
    public MachineRunner(ClientSettings kafka, String name, Installation installation, Steps steps) {
        this.kafka = kafka;
        this.installation = installation;
        this.steps = steps;
        this.idle = new IdleMachineWatch(kafka);
        this.starter = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
    }

    /** Begins to start and returns at once. Once. */
    public void start() {
        starter.start();
    }

    /** Empty if the machine takes records; else what it waits for or why it stopped, for people. */
    public Optional<String> notReady() {
        Optional<Throwable> stopped = fatal();
        if (stopped.isPresent()) {
            return stopped.map(failure -> "stopped: " + failure);
        }
        MachineStreams running = machine.get();
        if (running == null) {
            return Optional.of(waitingFor);
        }
        return running.ready()
                ? idle.complaint().map(complaint -> "waiting for partitions: " + complaint)
                : Optional.of("waiting for partitions");
    }

    /** Why the machine stopped for good; empty while it runs or may still recover. */
    public Optional<Throwable> fatal() {
        Throwable last = gaveUp;
        if (last != null) {
            return Optional.of(last);
        }
        MachineStreams running = machine.get();
        return running == null ? Optional.empty() : running.fatal();
    }

    /** The machine as Kafka Streams has it, for its state and metrics; throws until it has started. */
    Supplier<KafkaStreams> streams() {
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
            while (!closed && fatal().isEmpty()) {
                MachineStreams running = startMachine();
                if (running == null) {
                    Thread.sleep(PAUSE);
                } else {
                    watch(running);
                }
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

    /** Absent if it could not start, which may pass: another process may still hold the state folder. */
    private @Nullable MachineStreams startMachine() throws InterruptedException {
        MachineStreams streams = null;
        try {
            streams = steps.machine();
            provenance = streams.localState().provenance(kafka);
            if (!mayStart(streams, provenance)) {
                streams.close();
                return null;
            }
            machine.set(streams);
            streams.start();
        } catch (KafkaException | IllegalStateException | UncheckedIOException e) {
            machine.set(null);
            if (streams != null) {
                streams.close();
            }
            waitingFor = "a start without a failure: " + e.getMessage();
            LOGGER.atError().setCause(e).log("A machine could not start; trying again");
            return null;
        }
        if (closed) {
            streams.close();
        } else if (!startedBefore) {
            startedBefore = true;
            steps.started();
        }
        return streams;
    }

    private boolean mayStart(MachineStreams starting, Provenance origin) throws InterruptedException {
        return switch (origin.beforeStart()) {
            case Provenance.Verdict.Fits() -> true;
            case Provenance.Verdict.Elsewhere(String reason) -> {
                LOGGER.atWarn()
                        .addKeyValue("folder", starting.localState())
                        .addKeyValue("reason", reason)
                        .log(
                                "The state on this disk is a copy of what another cluster has; it is deleted, and built from"
                                        + " the changelogs of this one");
                starting.streams().cleanUp();
                yield origin.beforeStart() instanceof Provenance.Verdict.Fits;
            }
            case Provenance.Verdict.Orphaned(String reason) -> {
                giveUp(reason);
                yield false;
            }
        };
    }

    private void giveUp(String reason) {
        gaveUp = new IllegalStateException(reason);
        LOGGER.atError().addKeyValue("reason", reason).log("A machine stops: the changelog of its state is gone");
    }

    /** Whether the state is still a copy of what there is; if not, the machine is stopped. */
    private boolean hasItsOrigin(MachineStreams running) throws InterruptedException {
        Provenance.Verdict verdict =
                provenance == null ? new Provenance.Verdict.Fits() : provenance.whileRunning(running.ready());
        return switch (verdict) {
            case Provenance.Verdict.Fits() -> true;
            case Provenance.Verdict.Elsewhere(String reason) -> {
                retire(running, "another start: " + reason);
                yield false;
            }
            case Provenance.Verdict.Orphaned(String reason) -> {
                retire(running, reason);
                giveUp(reason);
                yield false;
            }
        };
    }

    /** Returns when another machine has to take its place, and has cleared the way for it. */
    private void watch(MachineStreams running) throws InterruptedException {
        while (!closed && running.fatal().isEmpty()) {
            Throwable damage = running.awaitDamage(LOOK);
            if (damage != null) {
                retire(running, "another start: " + damage.getMessage());
                if (!repairs.repair(running.localState(), damage, why -> waitingFor = why)) {
                    gaveUp = damage;
                }
                return;
            }
            steps.lookAgain();
            if (running.fatal().isEmpty() && !hasItsOrigin(running)) {
                return;
            }
            if (running.fatal().isEmpty() && idle.shouldBeReplaced(running)) {
                LOGGER.atWarn()
                        .addKeyValue("cause", idle.complaint().orElse(""))
                        .log(
                                "A thread of a machine has no partitions, although there are some; another machine takes its place");
                retire(running, "another start: " + idle.complaint().orElse(""));
                return;
            }
        }
    }

    private void retire(MachineStreams running, String why) {
        waitingFor = why;
        machine.set(null);
        running.close();
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
        try {
            if (starter.isAlive()) {
                starter.join(CLOSE_LIMIT); // it may be closing one that another was to replace
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
