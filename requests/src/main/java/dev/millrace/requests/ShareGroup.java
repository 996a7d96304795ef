package dev.millrace.requests;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.SharePartitionOffsetInfo;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthorizationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What has to be right at the broker before a share group is used, and whether the broker is there at all. */
final class ShareGroup implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(RequestWorker.class);
    private static final int ANSWER_MS = 5_000;

    private static final String OFFSET_RESET = "share.auto.offset.reset";
    private static final String ISOLATION_LEVEL = "share.isolation.level";
    private static final String LOCK_DURATION = "share.record.lock.duration.ms";
    /**
     * Kafka's defaults are latest, by which what was asked before the first worker came would be lost, and
     * read_uncommitted, by which a request of an aborted transaction would be done.
     */
    private static final Map<String, String> REQUIRED =
            Map.of(OFFSET_RESET, "earliest", ISOLATION_LEVEL, "read_committed");

    private static final String BROKER_MIN_LOCK = "group.share.min.record.lock.duration.ms";
    private static final String BROKER_MAX_LOCK = "group.share.max.record.lock.duration.ms";

    private final WorkerSettings settings;
    private final Admin admin;

    ShareGroup(WorkerSettings settings) {
        this.settings = settings;
        this.admin = Admin.create(settings.kafka()
                .with(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ANSWER_MS)
                .with(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, ANSWER_MS)
                .with(AdminClientConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 10_000)
                .values());
    }

    /**
     * Configures the group, or sees that somebody else has. A group that is not as it must be would lose requests, or
     * do those of aborted transactions, and is never used.
     *
     * @return how many partitions the request topic has
     * @throws KafkaException if the broker is not there, or the topic, or the group is not as it must be and this user
     *     may not set it up
     */
    int prepare() throws InterruptedException {
        TopicDescription topic = get(admin.describeTopics(List.of(settings.topic()))
                .topicNameValues()
                .values()
                .iterator()
                .next());
        ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, settings.group());
        Config found = found(group);
        Map<String, String> wanted = new TreeMap<>(REQUIRED);
        wanted.put(LOCK_DURATION, Long.toString(allowedLockMs()));
        List<AlterConfigOp> changes = differing(found, wanted)
                .map(entry ->
                        new AlterConfigOp(new ConfigEntry(entry.getKey(), entry.getValue()), AlterConfigOp.OpType.SET))
                .toList();
        if (!changes.isEmpty()) {
            try {
                get(admin.incrementalAlterConfigs(Map.of(group, changes)).all());
            } catch (AuthorizationException e) {
                requireUsable(found, e);
            }
        }
        return topic.partitions().size();
    }

    private Config found(ConfigResource group) throws InterruptedException {
        try {
            return get(admin.describeConfigs(List.of(group)).values().get(group));
        } catch (AuthorizationException e) {
            throw new KafkaException(
                    "the group " + settings.group() + ": expected to be allowed to DescribeConfigs, since it may be on"
                            + " latest and lose requests; found that this user is not",
                    e);
        }
    }

    /** Another lock than wanted costs time at most. */
    private void requireUsable(Config found, AuthorizationException denied) {
        List<String> wrong = differing(found, REQUIRED)
                .map(entry -> entry.getKey() + '=' + entry.getValue() + ", found " + value(found, entry.getKey()))
                .toList();
        if (!wrong.isEmpty()) {
            throw new KafkaException(
                    "the group " + settings.group() + ": expected " + String.join("; expected ", wrong)
                            + "; allow this user to AlterConfigs of the group, or set it with kafka-configs.sh"
                            + " --entity-type groups",
                    denied);
        }
        LOGGER.atInfo()
                .addKeyValue("group", settings.group())
                .addKeyValue("lockMs", value(found, LOCK_DURATION))
                .log("Not allowed to set the lock on requests, the group's own is used");
    }

    /** Those that are not as wanted. */
    private static Stream<Map.Entry<String, String>> differing(Config found, Map<String, String> wanted) {
        return wanted.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .filter(entry -> !entry.getValue().equals(value(found, entry.getKey())));
    }

    private static @Nullable String value(Config config, String name) {
        ConfigEntry entry = config.get(name);
        return entry == null ? null : entry.value();
    }

    /** Whether the broker answers. */
    boolean isReachable() throws InterruptedException {
        try {
            return !get(admin.describeCluster().nodes()).isEmpty();
        } catch (KafkaException e) {
            return false;
        }
    }

    /** How many requests nobody in the group has finished; empty if the broker does not say. */
    OptionalLong backlog() throws InterruptedException {
        try {
            Map<TopicPartition, SharePartitionOffsetInfo> partitions =
                    get(admin.listShareGroupOffsets(Map.of(settings.group(), new ListShareGroupOffsetsSpec()))
                            .partitionsToOffsetInfo(settings.group()));
            long sum = 0;
            List<TopicPartition> untouched = new ArrayList<>();
            for (Map.Entry<TopicPartition, SharePartitionOffsetInfo> partition : partitions.entrySet()) {
                // nothing has been acknowledged there yet
                if (partition.getValue() == null) {
                    untouched.add(partition.getKey());
                } else if (partition.getValue().lag().isPresent()) {
                    sum += partition.getValue().lag().get();
                } else {
                    return OptionalLong.empty();
                }
            }
            return OptionalLong.of(sum + all(untouched));
        } catch (KafkaException e) {
            LOGGER.atTrace().setCause(e).log("The broker does not say how many requests wait");
            return OptionalLong.empty();
        }
    }

    /** How many records there are on these partitions. */
    private long all(List<TopicPartition> partitions) throws InterruptedException {
        if (partitions.isEmpty()) {
            return 0;
        }
        return offsets(partitions, OffsetSpec.latest()) - offsets(partitions, OffsetSpec.earliest());
    }

    private long offsets(List<TopicPartition> partitions, OffsetSpec which) throws InterruptedException {
        Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
        partitions.forEach(partition -> wanted.put(partition, which));
        return get(admin.listOffsets(wanted).all()).values().stream()
                .mapToLong(ListOffsetsResult.ListOffsetsResultInfo::offset)
                .sum();
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(1));
    }

    /** The lock that is wanted, cut to what the broker allows, if it says so. */
    private long allowedLockMs() throws InterruptedException {
        long wanted = settings.lock().toMillis();
        try {
            Node node = get(admin.describeCluster().nodes()).iterator().next();
            ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, node.idString());
            Config config = get(admin.describeConfigs(List.of(broker)).values().get(broker));
            long allowed = Math.max(wanted, number(config, BROKER_MIN_LOCK).orElse(0));
            allowed = Math.min(allowed, number(config, BROKER_MAX_LOCK).orElse(Integer.MAX_VALUE));
            if (allowed != wanted) {
                LOGGER.atInfo()
                        .addKeyValue("wantedMs", wanted)
                        .addKeyValue("allowedMs", allowed)
                        .log("The broker does not allow the wanted lock on requests, the nearest is used");
            }
            return allowed;
        } catch (AuthorizationException e) {
            return wanted;
        }
    }

    private static OptionalInt number(Config config, String name) {
        String value = value(config, name);
        return value == null ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(value));
    }

    private static <T> T get(@Nullable KafkaFuture<T> future) throws InterruptedException {
        if (future == null) {
            throw new KafkaException("Kafka did not answer about something that it was asked about");
        }
        try {
            return future.get(2L * ANSWER_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof KafkaException cause) {
                throw cause;
            }
            throw new KafkaException(e);
        } catch (TimeoutException e) {
            throw new KafkaException("no answer within " + 2 * ANSWER_MS + " ms", e);
        }
    }
}
