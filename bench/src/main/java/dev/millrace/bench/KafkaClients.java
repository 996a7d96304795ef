package dev.millrace.bench;

import dev.millrace.kafka.ClientSettings;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A broker as its clients see it.
 *
 * @param settings of every client
 */
public record KafkaClients(ClientSettings settings) {

    /** The one at this address. */
    public static KafkaClients at(String bootstrapServers) {
        return new KafkaClients(ClientSettings.at(bootstrapServers));
    }

    /** The same with further settings. */
    public KafkaClients with(Map<String, ?> more) {
        return new KafkaClients(settings.with(more));
    }

    /** A client to ask and change it by. */
    public Admin admin() {
        return Admin.create(settings.values());
    }

    /** A client that sends. */
    public KafkaProducer<String, byte[]> producer() {
        return new KafkaProducer<>(settings.values(), new StringSerializer(), new ByteArraySerializer());
    }

    /** Reads topics of now, all partitions, from their beginning, in no group. */
    public KafkaConsumer<byte[], byte[]> reader(String... topics) {
        KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings.values(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.assign(Stream.of(topics)
                .flatMap(topic -> consumer.partitionsFor(topic).stream())
                .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
                .toList());
        consumer.seekToBeginning(consumer.assignment());
        return consumer;
    }

    /**
     * Reads a topic from its end of now on.
     *
     * @param isolation as in Kafka's settings, such as {@code read_committed}
     */
    public KafkaConsumer<byte[], byte[]> follower(String topic, String isolation) {
        KafkaConsumer<byte[], byte[]> consumer = with(Map.of("isolation.level", isolation, "fetch.max.wait.ms", 50))
                .reader(topic);
        consumer.seekToEnd(consumer.assignment());
        consumer.assignment().forEach(consumer::position); // which is when the end is asked for
        return consumer;
    }

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
        Map<ConfigResource, Collection<AlterConfigOp>> changes = new HashMap<>();
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
