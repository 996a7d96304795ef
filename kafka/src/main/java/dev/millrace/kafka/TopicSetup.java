package dev.millrace.kafka;

import dev.millrace.schemas.Topics;
import dev.millrace.schemas.Topics.Topic;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigsOptions;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.record.TimestampType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks at the start of a service that the topics are there and are right, and makes the missing ones where that is
 * wanted. Of topics that exist one setting is changed, where topics may be made: who dates the records. Several
 * services may do this at the same time.
 */
public final class TopicSetup {
    private static final Logger LOGGER = LoggerFactory.getLogger(TopicSetup.class);

    /**
     * How long to wait before asking again for a topic that was made a moment ago and that not every broker knows yet.
     */
    private static final long ASK_AGAIN_MS = 50;

    /** How long the admin client may take to say goodbye. */
    private static final Duration CLOSE_LIMIT = Duration.ofMillis(500);

    private final Admin admin;
    private final Topics topics;
    private final TopicSettings settings;
    private final ExpectedTopics expected;
    private final boolean keepsDates;
    private final Duration limit;
    private final long endNanos;

    private TopicSetup(Admin admin, Topics topics, TopicSettings settings, boolean keepsDates, Duration limit) {
        this.admin = admin;
        this.topics = topics;
        this.settings = settings;
        this.expected = new ExpectedTopics(topics, settings);
        this.keepsDates = keepsDates;
        this.limit = limit;
        this.endNanos = System.nanoTime() + limit.toNanos();
    }

    /**
     * Returns when every topic of the catalogue exists, with the cleanup policy that the catalogue names, room for its
     * largest records and, where keys meet, with {@link TopicSettings#partitions}. Blocks the caller for at most
     * {@code deadline}, also when no broker answers. The admin client stays open; close it with a time limit, since a
     * close without one waits for brokers that do not answer.
     *
     * @throws TopicSetupException if a topic is missing and none are to be made, if one is not as expected, or if the
     *     brokers refuse or do not answer in time; the message says what to do. Nothing is made if an existing topic is
     *     wrong
     */
    public static void ensure(Admin admin, Topics topics, TopicSettings settings, Duration deadline) {
        new TopicSetup(admin, topics, settings, false, deadline).run();
    }

    /**
     * The same for one who writes records with dates of long ago: topics that are made let whoever writes to them date
     * the records, and so do those that exist, if they did. Whoever calls it sees to it that brokers date them later.
     */
    public static void ensureKeepingDates(Admin admin, Topics topics, TopicSettings settings, Duration deadline) {
        new TopicSetup(admin, topics, settings, true, deadline).run();
    }

    /**
     * The same with an admin client of its own, which it closes: the whole call ends within {@code deadline} and a
     * second.
     *
     * @param kafka how to reach the brokers
     * @throws TopicSetupException as above, and if no client can be made from this configuration
     */
    public static void ensure(ClientSettings kafka, Topics topics, TopicSettings settings, Duration deadline) {
        Admin admin;
        try {
            admin = Admin.create(kafka.values());
        } catch (KafkaException e) {
            throw new TopicSetupException(
                    "The topics (prefix \"" + topics.prefix()
                            + "\") could not be checked: no Kafka client can be made from"
                            + " this configuration: " + withoutDot(reason(e)) + ". What to do: check"
                            + " kafka.bootstrap.servers (KAFKA_BOOTSTRAP_SERVERS) and its security settings.",
                    e);
        }
        try {
            ensure(admin, topics, settings, deadline);
        } finally {
            admin.close(CLOSE_LIMIT);
        }
    }

    private void run() {
        Map<String, ExpectedTopics.Found> found = describe();
        List<Topic> missing = expected.missing(found);
        boolean make = settings.create() && !missing.isEmpty();
        String report = expected.report(found, !make);
        if (report.isEmpty() && make) {
            create(missing);
            found = describeUntilAllThere();
            report = expected.report(found, true);
        }
        if (!report.isEmpty()) {
            throw new TopicSetupException(report, null);
        }
        List<String> datedBySenders = expected.datedBySenders(found);
        if (!datedBySenders.isEmpty() && !keepsDates) {
            dateByBroker(datedBySenders);
        }
        LOGGER.debug("The topics are there");
    }

    /**
     * Topics of before ADR 0024. Records that are there keep their dates; nothing else needs to be as it should at
     * once.
     */
    private void dateByBroker(List<String> names) {
        if (settings.create()) {
            Map<ConfigResource, Collection<AlterConfigOp>> changes = new LinkedHashMap<>();
            names.forEach(name -> changes.put(
                    new ConfigResource(ConfigResource.Type.TOPIC, name),
                    List.of(new AlterConfigOp(
                            new ConfigEntry(
                                    TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, TimestampType.LOG_APPEND_TIME.name),
                            AlterConfigOp.OpType.SET))));
            try {
                admin.incrementalAlterConfigs(changes, new AlterConfigsOptions().timeoutMs(remainingMs()))
                        .all()
                        .get(remainingMs(), TimeUnit.MILLISECONDS);
                LOGGER.atInfo().addKeyValue("topics", names).log("Topics are from now on dated by the brokers");
                return;
            } catch (ExecutionException | TimeoutException e) {
                LOGGER.atWarn().setCause(e).log("The brokers did not let a setting of topics be changed");
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
        }
        LOGGER.atWarn()
                .addKeyValue("topics", names)
                .log(
                        "Topics are dated by whoever writes to them, so that a record with an old date may be deleted before it is"
                                + " read; set message.timestamp.type=LogAppendTime, for example with kafka-configs.sh --alter");
    }

    /** What the brokers say about the topics of the catalogue that exist. */
    private Map<String, ExpectedTopics.Found> describe() {
        List<String> names = expected.all().stream().map(Topic::name).toList();
        Map<String, TopicDescription> descriptions = new LinkedHashMap<>();
        admin.describeTopics(names, new DescribeTopicsOptions().timeoutMs(remainingMs()))
                .topicNameValues()
                .forEach((name, description) -> {
                    try {
                        descriptions.put(name, get(description));
                    } catch (UnknownTopicOrPartitionException e) {
                        LOGGER.debug("A topic is missing");
                    }
                });
        List<ConfigResource> resources = descriptions.keySet().stream()
                .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                .toList();
        Map<ConfigResource, KafkaFuture<Config>> configs = admin.describeConfigs(
                        resources, new DescribeConfigsOptions().timeoutMs(remainingMs()))
                .values();
        Map<String, ExpectedTopics.Found> found = new LinkedHashMap<>();
        descriptions.forEach((name, description) -> {
            KafkaFuture<Config> config = configs.get(new ConfigResource(ConfigResource.Type.TOPIC, name));
            if (config == null) {
                throw new IllegalStateException("Kafka did not answer about a topic that it was asked about: " + name);
            }
            try {
                Config settled = get(config);
                found.put(
                        name,
                        new ExpectedTopics.Found(
                                description.partitions().size(),
                                cleanup(settled),
                                maxMessageBytes(settled),
                                isDatedByBroker(settled)));
            } catch (UnknownTopicOrPartitionException e) {
                LOGGER.debug("A topic went away while it was looked at");
            }
        });
        return found;
    }

    private Map<String, ExpectedTopics.Found> describeUntilAllThere() {
        Map<String, ExpectedTopics.Found> found = describe();
        while (!expected.missing(found).isEmpty() && remainingMs() > ASK_AGAIN_MS) {
            try {
                TimeUnit.MILLISECONDS.sleep(ASK_AGAIN_MS);
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
            found = describe();
        }
        return found;
    }

    private void create(List<Topic> missing) {
        List<NewTopic> newTopics = missing.stream().map(this::asMade).toList();
        admin.createTopics(newTopics, new CreateTopicsOptions().timeoutMs(remainingMs()))
                .values()
                .forEach((name, done) -> {
                    try {
                        get(done);
                        LOGGER.atInfo().addKeyValue("topic", name).log("Made a topic");
                    } catch (TopicExistsException e) {
                        LOGGER.debug("Another service was faster and made the topic");
                    }
                });
    }

    private NewTopic asMade(Topic topic) {
        NewTopic made = expected.asMade(topic);
        if (keepsDates) {
            Map<String, String> config = new HashMap<>(made.configs());
            config.remove(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG);
            made.configs(config);
        }
        return made;
    }

    private static boolean isDatedByBroker(Config config) {
        ConfigEntry entry = config.get(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG);
        return entry != null && TimestampType.LOG_APPEND_TIME.name.equals(entry.value());
    }

    private static Set<String> cleanup(Config config) {
        ConfigEntry entry = config.get(TopicConfig.CLEANUP_POLICY_CONFIG);
        return entry == null || entry.value() == null
                ? Set.of()
                : Arrays.stream(entry.value().split(",", -1))
                        .map(String::strip)
                        .collect(Collectors.toUnmodifiableSet());
    }

    private static int maxMessageBytes(Config config) {
        ConfigEntry entry = config.get(TopicConfig.MAX_MESSAGE_BYTES_CONFIG);
        // brokers always say it
        return entry == null || entry.value() == null ? Integer.MAX_VALUE : Integer.parseInt(entry.value());
    }

    /**
     * Waits for one answer.
     *
     * @throws UnknownTopicOrPartitionException if that is the answer
     * @throws TopicExistsException if that is the answer
     * @throws TopicSetupException if it is another failure, or none comes in time
     */
    private <T> T get(KafkaFuture<T> future) {
        try {
            return future.get(remainingMs(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case UnknownTopicOrPartitionException unknown -> throw unknown;
                case TopicExistsException exists -> throw exists;
                case org.apache.kafka.common.errors.TimeoutException late -> throw noAnswer(late);
                case null, default ->
                    throw new TopicSetupException(
                            "The topics (prefix \"" + topics.prefix() + "\") could not be checked"
                                    + (settings.create() ? " or made" : "") + ": the brokers answered: "
                                    + withoutDot(String.valueOf(e.getCause()))
                                    + ". What to do: this service needs the rights to describe"
                                    + " these topics and their configuration"
                                    + (settings.create()
                                            ? " and to create them, and as many brokers as"
                                                    + " millrace.topics.replication (" + settings.replication()
                                                    + ") asks for."
                                            : "."),
                            e);
            }
        } catch (TimeoutException e) {
            throw noAnswer(e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private TopicSetupException noAnswer(Exception cause) {
        return new TopicSetupException(
                "The topics (prefix \"" + topics.prefix()
                        + "\") could not be checked: expected an answer from the Kafka"
                        + " brokers within " + limit.toMillis() + " ms, found none. What to do: check"
                        + " kafka.bootstrap.servers (KAFKA_BOOTSTRAP_SERVERS) and its security settings, and that the"
                        + " brokers run and can be reached under the addresses that they advertise.",
                cause);
    }

    private static String reason(KafkaException e) {
        return String.valueOf((e.getCause() == null ? e : e.getCause()).getMessage());
    }

    private static String withoutDot(String text) {
        return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
    }

    private static TopicSetupException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new TopicSetupException("The check of the topics was interrupted", cause);
    }

    private int remainingMs() {
        return Math.clamp(TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime()), 1, Integer.MAX_VALUE);
    }
}
