package dev.millrace.broker;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;

/**
 * The server properties of the one node. Everything that is not named here is Kafka's default. What differs falls into
 * three groups: one node instead of a cluster, quick answers instead of patience with a network, and less memory.
 */
final class BrokerSettings {

    static final String BROKER_LISTENER = "PLAINTEXT";
    static final String LOOPBACK = "127.0.0.1";

    /** How long a start may take before it is given up; usual are 1 to 2 s. */
    static final Duration START_LIMIT = Duration.ofSeconds(60);

    static final String PROTOCOLS = "listener.security.protocol.map";

    /** How long the controller takes a broker for alive that says nothing. */
    static final Duration SESSION = Duration.ofSeconds(2);

    private static final String SINGLE_NODE = """
            auto.create.topics.enable=false
            default.replication.factor=1
            min.insync.replicas=1
            offsets.topic.replication.factor=1
            transaction.state.log.replication.factor=1
            transaction.state.log.min.isr=1
            share.coordinator.state.topic.replication.factor=1
            share.coordinator.state.topic.min.isr=1
            # 50 partitions each spread load over a cluster; here they are 150 folders to open at every start
            offsets.topic.num.partitions=4
            transaction.state.log.num.partitions=4
            share.coordinator.state.topic.num.partitions=4
            """;

    private static final String QUICK_GROUPS = """
            # a member learns of its assignment by heartbeat, so this is how long joining takes
            group.<kind>.heartbeat.interval.ms=500
            group.<kind>.min.heartbeat.interval.ms=500
            # a member that was killed blocks its partitions for this long
            group.<kind>.session.timeout.ms=5000
            group.<kind>.min.session.timeout.ms=1000
            """;

    private static final String QUICK_ANSWERS = """
            group.initial.rebalance.delay.ms=0
            group.streams.initial.rebalance.delay.ms=0
            group.min.session.timeout.ms=1000
            group.share.min.record.lock.duration.ms=1000
            # a tool call may take minutes, and a minute is all that Kafka's own limit allows
            group.share.max.record.lock.duration.ms=3600000
            group.share.initialize.retry.interval.ms=1000
            broker.heartbeat.interval.ms=500
            # the transaction of a killed producer hides what comes after it from read_committed consumers until it is
            # aborted
            transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
            # a transaction that follows another one at once waits for its markers, which are written within a millisecond
            add.partitions.to.txn.retry.backoff.ms=1
            # with one controller there is nothing to gather
            controller.quorum.append.linger.ms=0
            # no heartbeat records in the metadata log (written and flushed twice a second) while nothing happens
            metadata.max.idle.interval.ms=0
            log.segment.delete.delay.ms=5000
            """;

    private static final String LESS_MEMORY = """
            num.network.threads=2
            num.io.threads=4
            background.threads=4
            log.cleaner.dedupe.buffer.size=2097152
            # after a SIGKILL the newest segment of each partition is read again, so it should not be a gigabyte
            log.segment.bytes=134217728
            # what is in full segments is compacted, and a coordinator reads all of its partition when it starts
            offsets.topic.segment.bytes=8388608
            transaction.state.log.segment.bytes=8388608
            log.index.size.max.bytes=1048576
            offsets.load.buffer.size=1048576
            transaction.state.log.load.buffer.size=1048576
            share.coordinator.load.buffer.size=1048576
            """;

    private BrokerSettings() {}

    static Properties of(Path dataFolder, int brokerPort, int controllerPort, String advertisedHost) {
        String broker = "://" + LOOPBACK + ":" + brokerPort;
        String controller = LOOPBACK + ":" + controllerPort;
        Properties settings = anywhere();
        read(LESS_MEMORY, settings);
        settings.setProperty("process.roles", "broker,controller");
        settings.setProperty("node.id", String.valueOf(DataFolder.NODE_ID));
        settings.setProperty("log.dirs", dataFolder.toString());
        settings.setProperty(
                "listeners", BROKER_LISTENER + broker + "," + DataFolder.CONTROLLER_LISTENER + "://" + controller);
        settings.setProperty("advertised.listeners", BROKER_LISTENER + "://" + advertisedHost + ":" + brokerPort);
        settings.setProperty(PROTOCOLS, "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        settings.setProperty("inter.broker.listener.name", BROKER_LISTENER);
        settings.setProperty("controller.listener.names", DataFolder.CONTROLLER_LISTENER);
        settings.setProperty("controller.quorum.voters", DataFolder.NODE_ID + "@" + controller);
        settings.setProperty("server.max.startup.time.ms", String.valueOf(START_LIMIT.toMillis()));
        settings.setProperty("initial.broker.registration.timeout.ms", String.valueOf(START_LIMIT.toMillis()));
        return settings;
    }

    /** Those that make sense for one node wherever it runs. */
    static Properties anywhere() {
        Properties settings = new Properties();
        read(SINGLE_NODE, settings);
        read(QUICK_ANSWERS, settings);
        for (String kind : new String[] {"consumer", "share", "streams"}) {
            read(QUICK_GROUPS.replace("<kind>", kind), settings);
        }
        settings.setProperty("broker.session.timeout.ms", String.valueOf(SESSION.toMillis()));
        return settings;
    }

    private static void read(String text, Properties settings) {
        try {
            settings.load(new StringReader(text));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
