package dev.millrace.broker;

import dev.millrace.broker.BrokerStartException.Reason;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import kafka.server.BrokerServer;
import kafka.server.ControllerServer;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.server.SharedServer;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.metadata.properties.MetaPropertiesEnsemble;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;

/**
 * A running Kafka broker in this JVM: KRaft, one node, data on disk, listening on the loopback address only. Started by
 * {@link #start}, stopped by {@link #close}; a later start on the same folder goes on with its data, also after a
 * SIGKILL. Safe to use from any thread. {@code docs/adr/0009-embedded-broker.md} has the reasons and the measurements.
 */
public final class EmbeddedBroker implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(EmbeddedBroker.class);
    /** How long clients and the controller may take to say goodbye; a broker alone needs a few hundred milliseconds. */
    private static final Duration SHUTDOWN_LIMIT = Duration.ofSeconds(10);

    private final DataFolder folder;
    private final Faults faults;
    private final ControllerServer controller;
    private final BrokerServer broker;
    private final String bootstrapServers;
    private boolean closed;

    private EmbeddedBroker(
            DataFolder folder, Faults faults, ControllerServer controller, BrokerServer broker, int port) {
        this.folder = folder;
        this.faults = faults;
        this.controller = controller;
        this.broker = broker;
        this.bootstrapServers = BrokerSettings.LOOPBACK + ":" + port;
    }

    /**
     * Starts a broker and returns when it serves requests.
     *
     * @param dataFolder where its data lives; created if it is missing, and held until {@link #close}
     * @param port where it listens on the loopback address; 0 = any free port
     * @throws BrokerStartException if the port or the folder cannot be had, or the data cannot be read
     */
    public static EmbeddedBroker start(Path dataFolder, int port) throws BrokerStartException {
        return start(dataFolder, port, BrokerSettings.LOOPBACK);
    }

    /**
     * Says early what {@link #start} would find out: that another broker has its data in this folder now. Changes
     * nothing.
     *
     * @throws BrokerStartException if it has
     */
    public static void requireFree(Path dataFolder) throws BrokerStartException {
        DataFolder.requireFree(dataFolder);
    }

    /**
     * As above, for clients that reach it by way of something else, such as a relay.
     *
     * @param advertisedHost the host where clients are told to connect, on the same port; this process has to reach
     *     itself there
     */
    public static EmbeddedBroker start(Path dataFolder, int port, String advertisedHost) throws BrokerStartException {
        return start(dataFolder, port, advertisedHost, Map.of());
    }

    /** As above, with settings of Kafka's, which count more than its own: {@link BrokerUsers#broker} is some. */
    public static EmbeddedBroker start(Path dataFolder, int port, Map<String, String> settings)
            throws BrokerStartException {
        return start(dataFolder, port, BrokerSettings.LOOPBACK, settings);
    }

    private static EmbeddedBroker start(Path dataFolder, int port, String advertisedHost, Map<String, String> settings)
            throws BrokerStartException {
        try (Sockets sockets = Sockets.bind(port)) {
            DataFolder folder = DataFolder.take(dataFolder, sockets.brokerPort());
            try {
                folder.format();
                return start(folder, sockets, advertisedHost, settings);
            } catch (BrokerStartException | RuntimeException e) {
                folder.close();
                throw e;
            }
        }
    }

    private static EmbeddedBroker start(
            DataFolder folder, Sockets sockets, String advertisedHost, Map<String, String> others)
            throws BrokerStartException {
        Properties settings =
                BrokerSettings.of(folder.path(), sockets.brokerPort(), sockets.controllerPort(), advertisedHost);
        settings.putAll(others);
        KafkaConfig config = KafkaConfig.fromProps(settings, false);
        Tuple2<MetaPropertiesEnsemble, BootstrapMetadata> onDisk;
        try {
            onDisk = KafkaRaftServer.initializeLogDirs(config, LOGGER, "");
        } catch (RuntimeException e) {
            throw folder.damaged("Kafka says: " + message(e), e);
        }
        Faults faults = Faults.watch();
        BrokerClock clock = new BrokerClock();
        SharedServer shared = new SharedServer(
                config,
                onDisk._1(),
                clock,
                new Metrics(),
                CompletableFuture.completedFuture(Map.of(DataFolder.NODE_ID, sockets.controllerAddress())),
                List.of(),
                faults,
                sockets);
        ControllerServer controller = new ControllerServer(shared, KafkaRaftServer.configSchema(), onDisk._2());
        BrokerServer broker = new BrokerServer(shared);
        EmbeddedBroker embedded = new EmbeddedBroker(folder, faults, controller, broker, sockets.brokerPort());
        embedded.startServers(clock);
        return embedded;
    }

    /**
     * The server properties that make this broker what tests count on (one node, quick groups, no topics out of thin
     * air) and that do not depend on where it runs: for a broker of the same kind in a container.
     */
    public static Map<String, String> portableSettings() {
        Properties settings = BrokerSettings.anywhere();
        return settings.stringPropertyNames().stream()
                .collect(Collectors.toUnmodifiableMap(name -> name, settings::getProperty));
    }

    /** Where clients connect: {@code 127.0.0.1:<port>}. */
    public String bootstrapServers() {
        return bootstrapServers;
    }

    /** The folder with the data, absolute. */
    public Path dataFolder() {
        return folder.path();
    }

    /**
     * Completes with the reason if the broker meets a fault that it cannot survive, such as a full disk under its
     * metadata; never completes otherwise. The broker is of no use from then on; close it.
     */
    public CompletionStage<Throwable> failed() {
        return faults.firstFatal().minimalCompletionStage();
    }

    /**
     * Takes all members out of the groups of Streams applications and out of share groups, for one who knows that they
     * are dead: what they held would be held until their sessions are over. One who is not dead is told so by its next
     * heartbeat, and joins again. Returns how many it were.
     */
    public int endMemberships() {
        try {
            return new Memberships(broker).endAll();
        } catch (ExecutionException | TimeoutException e) {
            LOGGER.atInfo()
                    .setCause(e)
                    .log("The members of groups before this start stay until their sessions are over");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return 0;
    }

    /**
     * Stops the broker, flushes its data and releases port and folder. A second call does nothing; one that comes
     * meanwhile waits until it is done.
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            broker.shutdown(SHUTDOWN_LIMIT);
        } finally {
            try {
                controller.shutdown();
            } finally {
                faults.close();
                folder.close();
            }
        }
    }

    /** A controller that has met a fault makes Kafka's start-up wait without end, so the first of the two decides. */
    private void startServers(BrokerClock clock) throws BrokerStartException {
        CompletableFuture<Void> started = new CompletableFuture<>();
        Thread starter = Thread.ofPlatform().name("embedded-broker-start").start(() -> {
            try {
                controller.startup();
                FormerIncarnation.fence(
                        DataFolder.NODE_ID,
                        controller.sharedServer().loader(),
                        controller.controller(),
                        BrokerSettings.START_LIMIT);
                endFormerSession(clock);
                broker.startup();
                started.complete(null);
            } catch (Throwable e) { // whatever it is, the caller is waiting for it
                started.completeExceptionally(e);
            }
        });
        Throwable reason;
        try {
            CompletableFuture.anyOf(started, faults.firstFatal().thenApply(fault -> {
                        throw new CompletionException(fault);
                    }))
                    .get();
            return;
        } catch (ExecutionException e) {
            reason = Objects.requireNonNullElse(e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            reason = e;
        }
        starter.interrupt();
        close();
        throw startFailure(reason);
    }

    /**
     * The controller takes a broker that was killed for alive until its session is over, and refuses a new one before.
     * That the folder could be locked says that it is dead, so nobody has to wait for that.
     */
    private void endFormerSession(BrokerClock clock) throws InterruptedException {
        while (!controller.controller().isActive()) {
            TimeUnit.MILLISECONDS.sleep(1); // whoever started this thread interrupts it if that fails
        }
        clock.advance(BrokerSettings.SESSION);
    }

    private BrokerStartException startFailure(Throwable reason) {
        for (Throwable cause = reason; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException) {
                return new BrokerStartException(Reason.OTHER, "The start of the broker was interrupted.", reason);
            }
            if (cause instanceof TimeoutException || cause instanceof CancellationException) {
                return new BrokerStartException(
                        Reason.OTHER,
                        "The broker was not ready within " + BrokerSettings.START_LIMIT.toSeconds()
                                + " s. Is the machine very busy, or its disk very slow? Then try again.",
                        reason);
            }
        }
        // ports and permissions were checked before, so what is left is what Kafka read from the folder
        return folder.damaged("Kafka says: " + message(reason), reason);
    }

    private static String message(Throwable reason) {
        Throwable root = reason;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String message = root.getMessage();
        return message == null
                ? root.getClass().getSimpleName()
                : message.lines().findFirst().orElse("");
    }
}
