package dev.millrace.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;

/** What is asked of a broker about its logs. */
final class KafkaAdmin {

    private KafkaAdmin() {}

    /** How many bytes each topic has on disk now, indexes aside. */
    static Map<String, Long> bytesByTopic(Admin admin) throws InterruptedException, ExecutionException {
        List<Integer> brokers = admin.describeCluster().nodes().get().stream()
                .map(node -> node.id())
                .toList();
        Map<String, Long> bytes = new TreeMap<>();
        for (Map<String, LogDirDescription> folders :
                admin.describeLogDirs(brokers).allDescriptions().get().values()) {
            for (LogDirDescription folder : folders.values()) {
                folder.replicaInfos()
                        .forEach((partition, replica) -> bytes.merge(partition.topic(), replica.size(), Long::sum));
            }
        }
        return bytes;
    }

    /** Has an fsync follow every append to every topic that there is. */
    static void flushEveryAppend(Admin admin) throws InterruptedException, ExecutionException {
        Set<String> topics = admin.listTopics(new ListTopicsOptions().listInternal(true))
                .names()
                .get();
        Map<ConfigResource, Collection<AlterConfigOp>> changes =
                new TreeMap<>((a, b) -> a.name().compareTo(b.name()));
        for (String topic : topics) {
            changes.put(
                    new ConfigResource(ConfigResource.Type.TOPIC, topic),
                    new ArrayList<>(List.of(new AlterConfigOp(
                            new ConfigEntry(TopicConfig.FLUSH_MESSAGES_INTERVAL_CONFIG, "1"),
                            AlterConfigOp.OpType.SET))));
        }
        admin.incrementalAlterConfigs(changes).all().get();
    }
}
