package dev.millrace.broker;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
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

    /** How long the controller takes a broker for alive that says nothing. */
    static final Duration SESSION = Duration.ofSeconds(2);

    private BrokerSettings() {}

    static Properties of(Path dataFolder, int brokerPort, int controllerPort, String advertisedHost) {
        Map<String, Object> settings = new LinkedHashMap<>(anywhere());
        settings.put("process.roles", "broker,controller");
        settings.put("node.id", DataFolder.NODE_ID);
        settings.put("log.dirs", dataFolder.toString());
        settings.put(
                "listeners",
                BROKER_LISTENER + "://" + LOOPBACK + ":" + brokerPort + "," + DataFolder.CONTROLLER_LISTENER + "://"
                        + LOOPBACK + ":" + controllerPort);
        settings.put("advertised.listeners", BROKER_LISTENER + "://" + advertisedHost + ":" + brokerPort);
        settings.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        settings.put("inter.broker.listener.name", BROKER_LISTENER);
        settings.put("controller.listener.names", DataFolder.CONTROLLER_LISTENER);
        settings.put("controller.quorum.voters", DataFolder.NODE_ID + "@" + LOOPBACK + ":" + controllerPort);
        settings.put("server.max.startup.time.ms", START_LIMIT.toMillis());
        settings.put("initial.broker.registration.timeout.ms", START_LIMIT.toMillis());
        lessMemory(settings);
        Properties properties = new Properties();
        // as text, like a file: Kafka refuses an Integer where it wants a Short
        settings.forEach((key, value) -> properties.setProperty(key, String.valueOf(value)));
        return properties;
    }

    /** Those that make sense for one node wherever it runs. */
    static Map<String, Object> anywhere() {
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("auto.create.topics.enable", false);
        singleNode(settings);
        quickAnswers(settings);
        return settings;
    }

    private static void singleNode(Map<String, Object> settings) {
        settings.put("default.replication.factor", 1);
        settings.put("min.insync.replicas", 1);
        settings.put("offsets.topic.replication.factor", 1);
        settings.put("transaction.state.log.replication.factor", 1);
        settings.put("transaction.state.log.min.isr", 1);
        settings.put("share.coordinator.state.topic.replication.factor", 1);
        settings.put("share.coordinator.state.topic.min.isr", 1);
        // 50 partitions each spread load over a cluster; here they are 150 folders to open at every start
        settings.put("offsets.topic.num.partitions", 4);
        settings.put("transaction.state.log.num.partitions", 4);
        settings.put("share.coordinator.state.topic.num.partitions", 4);
    }

    private static void quickAnswers(Map<String, Object> settings) {
        settings.put("group.initial.rebalance.delay.ms", 0);
        settings.put("group.streams.initial.rebalance.delay.ms", 0);
        for (String kind : new String[] {"consumer", "share", "streams"}) {
            // a member learns of its assignment by heartbeat, so this is how long joining takes
            settings.put("group." + kind + ".heartbeat.interval.ms", 500);
            settings.put("group." + kind + ".min.heartbeat.interval.ms", 500);
            // a member that was killed blocks its partitions for this long
            settings.put("group." + kind + ".session.timeout.ms", 5_000);
            settings.put("group." + kind + ".min.session.timeout.ms", 1_000);
        }
        settings.put("group.min.session.timeout.ms", 1_000);
        settings.put("group.share.min.record.lock.duration.ms", 1_000);
        // a tool call may take minutes, and a minute is all that Kafka's own limit allows
        settings.put("group.share.max.record.lock.duration.ms", 3_600_000);
        settings.put("group.share.initialize.retry.interval.ms", 1_000);
        settings.put("broker.session.timeout.ms", SESSION.toMillis());
        settings.put("broker.heartbeat.interval.ms", 250);
        // the transaction of a killed producer hides what comes after it from read_committed consumers until it is
        // aborted
        settings.put("transaction.abort.timed.out.transaction.cleanup.interval.ms", 1_000);
        // a transaction that follows another one at once waits for its markers, which are written within a millisecond
        settings.put("add.partitions.to.txn.retry.backoff.ms", 1);
        // with one controller there is nothing to gather
        settings.put("controller.quorum.append.linger.ms", 0);
        // no heartbeat records in the metadata log (written and flushed twice a second) while nothing happens
        settings.put("metadata.max.idle.interval.ms", 0);
        settings.put("log.segment.delete.delay.ms", 5_000);
    }

    private static void lessMemory(Map<String, Object> settings) {
        settings.put("num.network.threads", 2);
        settings.put("num.io.threads", 4);
        settings.put("background.threads", 4);
        settings.put("log.cleaner.dedupe.buffer.size", 2_097_152);
        // after a SIGKILL the newest segment of each partition is read again, so it should not be a gigabyte
        settings.put("log.segment.bytes", 134_217_728);
        // what is in full segments is compacted, and a coordinator reads all of its partition when it starts
        settings.put("offsets.topic.segment.bytes", 8_388_608);
        settings.put("transaction.state.log.segment.bytes", 8_388_608);
        settings.put("log.index.size.max.bytes", 1_048_576);
        settings.put("offsets.load.buffer.size", 1_048_576);
        settings.put("transaction.state.log.load.buffer.size", 1_048_576);
        settings.put("share.coordinator.load.buffer.size", 1_048_576);
    }
}
