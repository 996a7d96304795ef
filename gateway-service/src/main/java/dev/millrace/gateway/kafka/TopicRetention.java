package dev.millrace.gateway.kafka;

import dev.millrace.api.ForgetReport.Remains;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.jspecify.annotations.Nullable;

/**
 * Says how long topics still hold what has been deleted, as their own settings and those of the brokers have it. Each
 * call has a client of its own; few are made. For any thread.
 */
public final class TopicRetention {

    private static final String CHECK_INTERVAL = "log.retention.check.interval.ms";
    private static final String CLEANER_BACKOFF = "log.cleaner.backoff.ms";
    private static final Duration CLOSE_LIMIT = Duration.ofMillis(500);

    private final Cluster cluster;
    private final Topics topics;
    private final Duration atMost;

    /**
     * Connects when it is asked.
     *
     * @param atMost how long an answer of theirs may take
     */
    public TopicRetention(Cluster cluster, Duration atMost) {
        this.cluster = cluster.as("millrace-gateway-retention");
        this.topics = cluster.topics();
        this.atMost = atMost;
    }

    /**
     * All topics of this installation that may hold something of tasks or memory, by name.
     *
     * @param since when the last of it was written
     * @throws BrokerUnavailableException if the brokers do not say it in time
     */
    public List<Remains> since(Instant since) throws BrokerUnavailableException, InterruptedException {
        int limitMs = Math.clamp(atMost.toMillis(), 1, Integer.MAX_VALUE);
        Map<String, String> contents = contents();
        try {
            Admin admin = Admin.create(cluster.client().values());
            try {
                List<String> names = admin
                        .listTopics(new ListTopicsOptions().timeoutMs(limitMs))
                        .names()
                        .get(limitMs, TimeUnit.MILLISECONDS)
                        .stream()
                        .filter(name -> contents.containsKey(name) || isOwn(name))
                        .sorted()
                        .toList();
                Config broker = broker(admin, limitMs);
                List<Remains> held = new ArrayList<>();
                new TreeMap<>(topicConfigs(admin, names, limitMs))
                        .forEach((name, config) -> held.add(held(
                                name,
                                contents.getOrDefault(name, "What workers and stores keep"),
                                new Settings(config, broker),
                                since)));
                return held;
            } finally {
                admin.close(CLOSE_LIMIT);
            }
        } catch (ExecutionException | TimeoutException | KafkaException e) {
            throw new BrokerUnavailableException("The brokers did not say how long topics are kept", e);
        }
    }

    /** What topics hold, by name; those are left out that hold nothing of tasks or memory. */
    private Map<String, String> contents() {
        Map<String, String> contents = new HashMap<>();
        topics.all().forEach(topic -> contents.put(topic.name(), topic.purpose()));
        contents.keySet().removeAll(List.of(topics.definitions(), topics.rates()));
        Map<String, String> stores = Map.of(
                "rows",
                        "Tasks: states, transcripts (messages, tool results, summaries), who stands in line and what asked for"
                                + " that, what sessions have used, ids of model calls, wake-ups and requests to forget",
                "seen", "Ids of events",
                "cancels", "Requests to cancel tasks");
        stores.forEach((store, holds) -> contents.put(changelog("agent", store), holds + " (changelog)"));
        contents.put(
                changelog("reflection", "rows"),
                "Memory: documents, reflections under way with what they were shown, namespaces that were forgotten"
                        + " (changelog)");
        return contents;
    }

    private String changelog(String application, String store) {
        return topics.prefix() + application + '-' + store + "-changelog";
    }

    /** Request topics of workers of one's own, and changelogs that are not in the list above. */
    private boolean isOwn(String name) {
        return name.startsWith(topics.requests(""))
                || (name.endsWith("-changelog")
                        && (name.startsWith(topics.prefix() + "agent-")
                                || name.startsWith(topics.prefix() + "reflection-")));
    }

    private static Config broker(Admin admin, int limitMs)
            throws ExecutionException, InterruptedException, TimeoutException {
        Collection<Node> nodes = admin.describeCluster(new DescribeClusterOptions().timeoutMs(limitMs))
                .nodes()
                .get(limitMs, TimeUnit.MILLISECONDS);
        ConfigResource broker = new ConfigResource(
                ConfigResource.Type.BROKER, nodes.iterator().next().idString());
        Map<ConfigResource, Config> configs = admin.describeConfigs(
                        List.of(broker), new DescribeConfigsOptions().timeoutMs(limitMs))
                .all()
                .get(limitMs, TimeUnit.MILLISECONDS);
        return Objects.requireNonNull(configs.get(broker), "Kafka did not answer about its own broker");
    }

    private static Map<String, Config> topicConfigs(Admin admin, List<String> names, int limitMs)
            throws ExecutionException, InterruptedException, TimeoutException {
        Map<String, Config> configs = new HashMap<>();
        admin.describeConfigs(
                        names.stream()
                                .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                                .toList(),
                        new DescribeConfigsOptions().timeoutMs(limitMs))
                .all()
                .get(limitMs, TimeUnit.MILLISECONDS)
                .forEach((resource, config) -> configs.put(resource.name(), config));
        return configs;
    }

    private record Settings(Config topic, Config broker) {
        long millis(String key) {
            return read(topic, key);
        }

        long brokerMillis(String key) {
            return read(broker, key);
        }

        String cleanup() {
            ConfigEntry entry = topic.get(TopicConfig.CLEANUP_POLICY_CONFIG);
            return entry == null || entry.value() == null ? "" : entry.value();
        }

        private static long read(Config config, String key) {
            ConfigEntry entry = config.get(key);
            return entry == null || entry.value() == null ? -1 : Long.parseLong(entry.value());
        }
    }

    private static Remains held(String name, String holds, Settings settings, Instant since) {
        String cleanup = settings.cleanup();
        return cleanup.contains(TopicConfig.CLEANUP_POLICY_DELETE)
                ? deleted(name, holds, settings, since)
                : compacted(name, holds, settings, since);
    }

    /** A segment goes when its newest record is too old, and takes records until it is closed. */
    private static Remains deleted(String name, String holds, Settings settings, Instant since) {
        long retention = settings.millis(TopicConfig.RETENTION_MS_CONFIG);
        if (retention < 0) {
            return new Remains(
                    name, holds, settings.cleanup(), null, "It is kept for ever: retention.ms is " + retention + '.');
        }
        long segment = settings.millis(TopicConfig.SEGMENT_MS_CONFIG);
        long after = settings.brokerMillis(CHECK_INTERVAL) + settings.millis(TopicConfig.FILE_DELETE_DELAY_MS_CONFIG);
        return new Remains(
                name,
                holds,
                settings.cleanup(),
                plus(since, retention, segment, after),
                "Deleted " + words(retention) + " (retention.ms) after the newest record of its segment, which takes"
                        + " records for " + words(segment) + " (segment.ms).");
    }

    /** What has been replaced or deleted goes when its segment is cleaned; the one that is being written is not. */
    private static Remains compacted(String name, String holds, Settings settings, Instant since) {
        long lag = settings.millis(TopicConfig.MAX_COMPACTION_LAG_MS_CONFIG);
        if (lag < 0 || lag == Long.MAX_VALUE) {
            return new Remains(
                    name,
                    holds,
                    settings.cleanup(),
                    null,
                    "What has been deleted is readable until the topic is compacted, and nothing says when that is:"
                            + " max.compaction.lag.ms is not set.");
        }
        long after = settings.brokerMillis(CLEANER_BACKOFF) + settings.millis(TopicConfig.FILE_DELETE_DELAY_MS_CONFIG);
        return new Remains(
                name,
                holds,
                settings.cleanup(),
                plus(since, lag, after),
                "Compacted at the latest " + words(lag)
                        + " (max.compaction.lag.ms) after it was deleted, if anything is"
                        + " written to its partition then; else with the first record that is.");
    }

    private static @Nullable String plus(Instant since, long... millis) {
        long all = 0;
        for (long more : millis) {
            if (more > Long.MAX_VALUE / 1_000_000 || all > Long.MAX_VALUE / 1_000_000) {
                return null;
            }
            all += Math.max(0, more);
        }
        return since.plusMillis(all).toString();
    }

    private static String words(long millis) {
        Duration time = Duration.ofMillis(millis);
        if (time.toDays() > 0 && time.equals(Duration.ofDays(time.toDays()))) {
            return time.toDays() + " d";
        }
        return time.toMinutes() > 0 && time.equals(Duration.ofMinutes(time.toMinutes()))
                ? time.toMinutes() + " min"
                : millis + " ms";
    }
}
