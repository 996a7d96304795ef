package dev.millrace.requests;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
    private static final String BROKER_MIN_LOCK = "group.share.min.record.lock.duration.ms";
    private static final String BROKER_MAX_LOCK = "group.share.max.record.lock.duration.ms";

    private final WorkerSettings settings;
    private final Admin admin;

    ShareGroup(WorkerSettings settings) {
        this.settings = settings;
        Map<String, Object> config = new HashMap<>(settings.kafka());
        config.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ANSWER_MS);
        config.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, ANSWER_MS);
        config.put(AdminClientConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 10_000);
        this.admin = Admin.create(config);
    }

    /**
     * Configures the group.
     *
     * @return how many partitions the request topic has
     * @throws KafkaException if the broker is not there, or the topic, or something else is in the way
     */
    int prepare() throws InterruptedException {
        TopicDescription topic = get(admin.describeTopics(List.of(settings.topic()))
                .topicNameValues()
                .values()
                .iterator()
                .next());
        ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, settings.group());
        Map<String, String> wanted = new HashMap<>();
        // Kafka's default is latest: what was asked before the first worker came would be lost
        wanted.put(OFFSET_RESET, "earliest");
        // Kafka's default is read_uncommitted: a request of an aborted transaction would be done
        wanted.put(ISOLATION_LEVEL, "read_committed");
        wanted.put(LOCK_DURATION, Long.toString(allowedLockMs()));
        try {
            Config found = get(admin.describeConfigs(List.of(group)).values().get(group));
            List<AlterConfigOp> changes = new ArrayList<>();
            wanted.forEach((name, value) -> {
                ConfigEntry entry = found.get(name);
                if (entry == null || !value.equals(entry.value())) {
                    changes.add(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET));
                }
            });
            if (!changes.isEmpty()) {
                get(admin.incrementalAlterConfigs(Map.of(group, changes)).all());
            }
        } catch (AuthorizationException e) {
            LOGGER.atWarn()
                    .addKeyValue("group", settings.group())
                    .addKeyValue("expected", wanted)
                    .log("Not allowed to read or set the configuration of the share group, which must be as expected");
        }
        return topic.partitions().size();
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
        ConfigEntry entry = config.get(name);
        return entry == null || entry.value() == null
                ? OptionalInt.empty()
                : OptionalInt.of(Integer.parseInt(entry.value()));
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
