package dev.millrace.bench.crash;

import dev.millrace.broker.EmbeddedBroker;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.properties.MetaPropertiesEnsemble;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.Feature;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * One broker of a cluster of several, as a process: {@code ID DATA-FOLDER HOST BROKER-PORTS CONTROLLER-PORTS}, the
 * ports of all brokers with commas between. Each is a controller as well. Every topic lies on three of them, of which
 * two have to have a record before it counts.
 */
final class ClusterNode {

    static final String READY = "Kafka is ready";
    static final int REPLICATION = 3;

    private static final String LOOPBACK = "127.0.0.1:";
    private static final String CONTROLLER = "CONTROLLER";
    /** Held on to, because a logger that nobody holds forgets its level. */
    private static final Logger ROOT = Logger.getLogger("");

    private ClusterNode() {}

    /** Runs until it is ended from outside. */
    public static void main(String... args) throws Exception {
        ROOT.setLevel(Level.WARNING);
        int id = Integer.parseInt(args[0]);
        Path folder = Path.of(args[1]);
        Properties settings = settings(id, folder, args[2], args[3].split(","), args[4].split(","));
        format(id, folder);
        KafkaRaftServer server = new KafkaRaftServer(KafkaConfig.fromProps(settings, false), Time.SYSTEM);
        Runtime.getRuntime()
                .addShutdownHook(Thread.ofPlatform().name("broker-stop").unstarted(server::shutdown));
        server.startup();
        System.out.println(READY);
        server.awaitShutdown();
    }

    private static Properties settings(int id, Path folder, String host, String[] brokers, String[] controllers) {
        Properties settings = new Properties();
        EmbeddedBroker.portableSettings().forEach(settings::setProperty);
        String broker = brokers[id - 1];
        settings.setProperty("process.roles", "broker,controller");
        settings.setProperty("node.id", Integer.toString(id));
        settings.setProperty("log.dirs", folder.toString());
        settings.setProperty(
                "listeners",
                "PLAINTEXT://" + LOOPBACK + broker + "," + CONTROLLER + "://" + LOOPBACK + controllers[id - 1]);
        settings.setProperty("advertised.listeners", "PLAINTEXT://" + host + ":" + broker);
        settings.setProperty("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        settings.setProperty("inter.broker.listener.name", "PLAINTEXT");
        settings.setProperty("controller.listener.names", CONTROLLER);
        settings.setProperty(
                "controller.quorum.voters",
                IntStream.rangeClosed(1, controllers.length)
                        .mapToObj(node -> node + "@" + LOOPBACK + controllers[node - 1])
                        .collect(Collectors.joining(",")));
        for (String replicated : List.of(
                "default.replication.factor",
                "offsets.topic.replication.factor",
                "transaction.state.log.replication.factor",
                "share.coordinator.state.topic.replication.factor")) {
            settings.setProperty(replicated, Integer.toString(REPLICATION));
        }
        for (String inSync : List.of(
                "min.insync.replicas", "transaction.state.log.min.isr", "share.coordinator.state.topic.min.isr")) {
            settings.setProperty(inSync, Integer.toString(REPLICATION - 1));
        }
        settings.setProperty("log.cleaner.dedupe.buffer.size", "2097152");
        // on a machine with few cores
        settings.setProperty("num.network.threads", "2");
        settings.setProperty("num.io.threads", "4");
        return settings;
    }

    private static void format(int id, Path folder) throws Exception {
        if (Files.exists(folder.resolve(MetaPropertiesEnsemble.META_PROPERTIES_NAME))) {
            return;
        }
        try (PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8)) {
            new Formatter()
                    .setPrintStream(nowhere)
                    .setNodeId(id)
                    // the same for all nodes
                    .setClusterId(new Uuid(1, 1).toString())
                    .setSupportedFeatures(List.copyOf(Feature.PRODUCTION_FEATURES))
                    .setReleaseVersion(MetadataVersion.latestProduction())
                    .setControllerListenerName(CONTROLLER)
                    .setMetadataLogDirectory(folder.toString())
                    .addDirectory(folder.toString())
                    .run();
        }
    }
}
