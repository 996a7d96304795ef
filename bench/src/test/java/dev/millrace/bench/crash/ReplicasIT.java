package dev.millrace.bench.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.engine.LaneProducer;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.Cluster;
import dev.millrace.gateway.kafka.EventSender;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.ServiceProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.TopicPartitionInfo;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** What "acknowledged" means where there are three replicas, of which two have to have a record. */
class ReplicasIT {

    private static final Duration START_LIMIT = Duration.ofSeconds(90);
    /** How long somebody waits for an acknowledgement; far more than it takes when all is well. */
    private static final Duration PATIENCE = Duration.ofSeconds(8);

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path folder;

    private final Topics topics = new Topics(Topics.DEFAULT_PREFIX);

    @Test
    @DisplayName("replication 3, two replicas hang: nothing is acknowledged, neither what is answered with 202 nor a"
            + " model's reply; when they are back, both are")
    void shouldNotAcknowledgeWhatOneReplicaAloneHas() throws Exception {
        List<Integer> ports = Stream.generate(FreePort::find).limit(3).toList();
        List<Integer> controllers = Stream.generate(FreePort::find).limit(3).toList();
        List<ServiceProcess> nodes = new ArrayList<>();
        try {
            for (int node = 1; node <= ports.size(); node++) {
                nodes.add(ServiceProcess.mainClass(
                                ClusterNode.class,
                                Integer.toString(node),
                                folder.resolve("data-" + node).toString(),
                                "127.0.0.1",
                                joined(ports, ""),
                                joined(controllers, ""))
                        .start(Files.createDirectory(folder.resolve(Integer.toString(node)))));
            }
            for (ServiceProcess node : nodes) {
                node.awaitOutput(ClusterNode.READY, START_LIMIT);
            }
            ClientSettings kafka = ClientSettings.at(joined(ports, "127.0.0.1:"));
            TopicSetup.ensure(kafka, topics, new TopicSettings(1, TopicSettings.BROKER_DEFAULT, true), START_LIMIT);
            int leader = leaderOfTheLane(kafka);
            try (EventSender gateway = new EventSender(new Cluster(kafka, topics), PATIENCE, event -> {});
                    LaneProducer thinker = new LaneProducer(kafka, topics, "thinker");
                    var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                // given: both know the cluster
                gateway.send(List.of(message("before")));
                assertThat(thinker.send(message("before-too"))).isTrue();

                // when
                for (int node = 1; node <= nodes.size(); node++) {
                    if (node != leader) {
                        signal(nodes.get(node - 1), "STOP");
                    }
                }

                // then
                try {
                    CompletableFuture<Boolean> reply = CompletableFuture.supplyAsync(() -> sent(thinker), threads);
                    assertThatThrownBy(() -> gateway.send(List.of(message("meanwhile"))))
                            .isInstanceOf(BrokerUnavailableException.class);
                    assertThat(reply).isNotDone();
                    signalAll(nodes, "CONT");
                    assertThat(reply).succeedsWithin(START_LIMIT).isEqualTo(true);
                    await().atMost(START_LIMIT)
                            .ignoreExceptions()
                            .untilAsserted(() -> gateway.send(List.of(message("meanwhile"))));
                } finally {
                    // whoever waits for a process that hangs would keep this from ending
                    signalAll(nodes, "CONT");
                }
            }
        } finally {
            nodes.forEach(ServiceProcess::close);
        }
    }

    private static void signalAll(List<ServiceProcess> nodes, String name) throws Exception {
        for (ServiceProcess node : nodes) {
            signal(node, name);
        }
    }

    private boolean sent(LaneProducer thinker) {
        try {
            return thinker.send(message("reply"));
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    /** The node that leads the only partition of the lane; all three have it by then. */
    private int leaderOfTheLane(ClientSettings kafka) throws Exception {
        String lane = topics.lane(message("any").lane());
        try (Admin admin = Admin.create(kafka.values())) {
            TopicPartitionInfo partition = await().atMost(START_LIMIT)
                    .until(
                            () -> Objects.requireNonNull(admin.describeTopics(List.of(lane))
                                            .allTopicNames()
                                            .get()
                                            .get(lane))
                                    .partitions()
                                    .getFirst(),
                            described -> described.isr().size() == ClusterNode.REPLICATION);
            return partition.leader().id();
        }
    }

    private static Event message(String id) {
        return Event.root(id, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                .payload(Map.of("text", "hello"))
                .build();
    }

    private static void signal(ServiceProcess node, String name) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(node.pid()))
                        .inheritIO()
                        .start()
                        .waitFor())
                .isZero();
    }

    private static String joined(List<Integer> ports, String host) {
        return ports.stream().map(port -> host + port).collect(Collectors.joining(","));
    }
}
