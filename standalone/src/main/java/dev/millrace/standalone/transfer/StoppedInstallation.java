package dev.millrace.standalone.transfer;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListStreamsGroupOffsetsSpec;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/**
 * The topics and the groups of an installation that stands still, for one that moves it. All methods wait for the
 * brokers, for {@link #ANSWER} at most unless they say otherwise.
 */
final class StoppedInstallation implements AutoCloseable {

    private static final Duration ANSWER = Duration.ofSeconds(60);
    /** Those of machines end ten seconds after their writer was killed, if nobody goes on in its place. */
    private static final Duration OPEN_TRANSACTIONS = Duration.ofMinutes(2);

    private static final Duration ASK_AGAIN = Duration.ofSeconds(1);
    private static final Set<GroupState> AT_REST = Set.of(GroupState.EMPTY, GroupState.DEAD);

    private final Topics topics;
    private final Admin admin;

    /**
     * Connects.
     *
     * @param kafka how to reach the brokers
     */
    StoppedInstallation(ClientSettings kafka, Topics topics) throws TransferException {
        this.topics = topics;
        try {
            this.admin = Admin.create(kafka.values());
        } catch (KafkaException e) {
            throw new TransferException("No Kafka client can be made from this configuration: " + reason(e), e);
        }
    }

    /** For what knows by itself what it wants. */
    Admin admin() {
        return admin;
    }

    /** How many partitions each topic has, by its name without the prefix. */
    Map<String, Integer> partitions() throws TransferException, InterruptedException {
        Set<String> names = answer(admin.listTopics().names()).stream()
                .filter(this::isOurs)
                .collect(Collectors.toUnmodifiableSet());
        Map<String, Integer> partitions = new TreeMap<>();
        answer(admin.describeTopics(names).allTopicNames())
                .forEach((name, topic) -> partitions.put(
                        name.substring(topics.prefix().length()),
                        topic.partitions().size()));
        return partitions;
    }

    /** Not those of another installation, whose prefix begins in the same way. */
    private boolean isOurs(String topic) {
        String prefix = topics.prefix();
        return topic.startsWith(topics.requests(""))
                || topics.all().stream().anyMatch(one -> one.name().equals(topic))
                || (topic.startsWith(prefix) && Changelog.ALL.containsKey(topic.substring(prefix.length())));
    }

    /** What has been set for a topic, beside what the brokers do by default. */
    Map<String, String> config(String topic) throws TransferException, InterruptedException {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Map<ConfigResource, Config> found =
                answer(admin.describeConfigs(List.of(resource)).all());
        Map<String, String> set = new TreeMap<>();
        for (Config config : found.values()) {
            config.entries().stream()
                    .filter(entry -> entry.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG)
                    .forEach(entry -> set.put(entry.name(), entry.value()));
        }
        return set;
    }

    /** Complains if a service or a worker of this installation runs: what is moved has to stand still. */
    void requireStopped() throws TransferException, InterruptedException {
        Set<String> running = new TreeSet<>();
        for (GroupListing group : answer(admin.listGroups().valid())) {
            boolean ours = group.groupId().startsWith(topics.prefix())
                    || group.groupId().startsWith(topics.workers());
            if (ours && !AT_REST.contains(group.groupState().orElse(GroupState.UNKNOWN))) {
                running.add(group.groupId());
            }
        }
        if (!running.isEmpty()) {
            throw new TransferException("expected all services and workers to be stopped, found members in the groups "
                    + String.join(", ", running)
                    + ". One that was killed counts as a member until its session is over, a minute at most");
        }
    }

    /**
     * Where topics end, by what is committed. Waits for two minutes at most for transactions that are open, since what
     * is behind their beginnings may not be read.
     */
    Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions)
            throws TransferException, InterruptedException {
        long limit = System.nanoTime() + OPEN_TRANSACTIONS.toNanos();
        while (true) {
            Map<TopicPartition, Long> all = ends(partitions, IsolationLevel.READ_UNCOMMITTED);
            Map<TopicPartition, Long> committed = ends(partitions, IsolationLevel.READ_COMMITTED);
            Set<TopicPartition> open = new HashSet<>(partitions);
            open.removeIf(partition -> offset(committed, partition) >= offset(all, partition));
            if (open.isEmpty()) {
                return committed;
            }
            if (System.nanoTime() - limit > 0) {
                throw new TransferException("expected no open transaction, found some for "
                        + OPEN_TRANSACTIONS.toSeconds() + " s, on " + open
                        + ". Kafka's kafka-transactions.sh lists them, and can abort them");
            }
            TimeUnit.NANOSECONDS.sleep(ASK_AGAIN.toNanos());
        }
    }

    private Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions, IsolationLevel isolation)
            throws TransferException, InterruptedException {
        return offsets(admin.listOffsets(
                        partitions.stream().collect(Collectors.toMap(Function.identity(), one -> OffsetSpec.latest())),
                        new ListOffsetsOptions(isolation))
                .all());
    }

    private static Map<TopicPartition, Long> offsets(KafkaFuture<Map<TopicPartition, ListOffsetsResultInfo>> asked)
            throws TransferException, InterruptedException {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        answer(asked).forEach((partition, found) -> offsets.put(partition, found.offset()));
        return offsets;
    }

    /** What the group of a machine has not read begins here, of each partition that it has read anything of. */
    Map<TopicPartition, Long> readByMachine(String machine) throws TransferException, InterruptedException {
        String group = topics.prefix() + machine;
        if (!groups().containsKey(group)) {
            return Map.of();
        }
        Map<TopicPartition, Long> offsets = new HashMap<>();
        answer(admin.listStreamsGroupOffsets(Map.of(group, new ListStreamsGroupOffsetsSpec()))
                        .partitionsToOffsetAndMetadata(group))
                .forEach((partition, read) -> {
                    if (read != null) {
                        offsets.put(partition, read.offset());
                    }
                });
        return offsets;
    }

    /**
     * The same for the topic of a toolset: what its share group has not done begins there or, if there is none, what
     * an ordinary group has not read, the one that is furthest behind.
     */
    Map<TopicPartition, Long> readByWorkers(String toolset) throws TransferException, InterruptedException {
        String topic = topics.requests(toolset);
        Map<String, GroupType> groups = groups();
        String shared = topics.shareGroup(toolset);
        Map<TopicPartition, Long> offsets = new HashMap<>();
        if (groups.get(shared) == GroupType.SHARE) {
            answer(admin.listShareGroupOffsets(Map.of(shared, new ListShareGroupOffsetsSpec()))
                            .partitionsToOffsetInfo(shared))
                    .forEach((partition, done) -> {
                        if (done != null && done.startOffset() >= 0) {
                            offsets.put(partition, done.startOffset());
                        }
                    });
            return offsets;
        }
        for (Map.Entry<String, GroupType> group : groups.entrySet()) {
            if (group.getValue() == GroupType.CONSUMER || group.getValue() == GroupType.CLASSIC) {
                answer(admin.listConsumerGroupOffsets(Map.of(group.getKey(), new ListConsumerGroupOffsetsSpec()))
                                .partitionsToOffsetAndMetadata(group.getKey()))
                        .forEach((partition, read) -> {
                            if (read != null && partition.topic().equals(topic)) {
                                offsets.merge(partition, read.offset(), Math::min);
                            }
                        });
            }
        }
        return offsets;
    }

    private Map<String, GroupType> groups() throws TransferException, InterruptedException {
        return answer(admin.listGroups().valid()).stream()
                .collect(Collectors.toMap(
                        GroupListing::groupId, group -> group.type().orElse(GroupType.UNKNOWN)));
    }

    /** Makes a topic. */
    void make(NewTopic topic) throws TransferException, InterruptedException {
        answer(admin.createTopics(List.of(topic)).all());
    }

    /** Gives a topic more partitions. */
    void widen(String topic, int partitions) throws TransferException, InterruptedException {
        answer(admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(partitions)))
                .all());
    }

    /** Changes a setting of topics. */
    void set(Collection<String> names, String setting, String value) throws TransferException, InterruptedException {
        answer(admin.incrementalAlterConfigs(names.stream()
                        .collect(Collectors.toMap(
                                name -> new ConfigResource(ConfigResource.Type.TOPIC, name),
                                name -> List.of(
                                        new AlterConfigOp(new ConfigEntry(setting, value), AlterConfigOp.OpType.SET)))))
                .all());
    }

    /** Deletes what is before these offsets. */
    void deleteBefore(Map<TopicPartition, Long> offsets) throws TransferException, InterruptedException {
        answer(admin.deleteRecords(offsets.entrySet().stream()
                        .collect(Collectors.toMap(
                                Map.Entry::getKey, one -> RecordsToDelete.beforeOffset(one.getValue()))))
                .all());
    }

    /** The partitions of a topic. */
    static List<TopicPartition> partitions(String topic, int count) {
        return IntStream.range(0, count)
                .mapToObj(partition -> new TopicPartition(topic, partition))
                .toList();
    }

    private static long offset(Map<TopicPartition, Long> offsets, TopicPartition partition) {
        return offsets.getOrDefault(partition, 0L);
    }

    private static <T> T answer(KafkaFuture<T> future) throws TransferException, InterruptedException {
        try {
            return future.get(ANSWER.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new TransferException("The brokers answered: " + reason(e), e);
        } catch (TimeoutException e) {
            throw new TransferException(
                    "expected an answer from the Kafka brokers within " + ANSWER.toSeconds() + " s, found none", e);
        }
    }

    private static String reason(Exception failure) {
        Throwable cause = failure.getCause() == null ? failure : failure.getCause();
        return cause.getMessage() == null ? cause.toString() : cause.getMessage();
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(1));
    }
}
