package dev.millrace.kafka;

import dev.millrace.schemas.Topics;
import dev.millrace.schemas.Topics.Cleanup;
import dev.millrace.schemas.Topics.Topic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.record.TimestampType;

/**
 * The topics as they should be, to compare with those that are there. Asks nobody.
 *
 * @param topics the catalogue
 * @param settings what the installation adds to it
 */
record ExpectedTopics(Topics topics, TopicSettings settings) {
    private static final Duration SHORT_RETENTION = Duration.ofHours(6);
    private static final Duration LONGEST_SEGMENT = Duration.ofDays(1);

    /**
     * An existing topic, as far as it matters here.
     *
     * @param partitions how many it has
     * @param cleanup the words of its {@code cleanup.policy}
     * @param maxMessageBytes its {@code max.message.bytes}
     * @param datedByBroker whether its {@code message.timestamp.type} is {@code LogAppendTime}
     */
    record Found(int partitions, Set<String> cleanup, int maxMessageBytes, boolean datedByBroker) {}

    /**
     * The topics that were found and whose records bear the dates of their senders, although brokers are to date them.
     */
    List<String> datedBySenders(Map<String, Found> found) {
        return all().stream()
                .filter(topics::datedByBroker)
                .map(Topic::name)
                .filter(name -> found.containsKey(name) && !found.get(name).datedByBroker())
                .toList();
    }

    /** The topics of the catalogue, then those of the toolsets that were named. */
    List<Topic> all() {
        List<Topic> all = new ArrayList<>(topics.all());
        settings.toolsets().forEach(toolset -> all.add(topics.toolset(toolset.name())));
        return all;
    }

    /** The topics that are not among those found. */
    List<Topic> missing(Map<String, Found> found) {
        return all().stream().filter(topic -> !found.containsKey(topic.name())).toList();
    }

    /** How many partitions this topic has to have, or is made with if any number will do. */
    int partitions(Topic topic) {
        if (topic.coPartitioned()) {
            return settings.partitions();
        }
        return settings.toolsets().stream()
                .filter(toolset -> topics.requests(toolset.name()).equals(topic.name()))
                .mapToInt(TopicSettings.Toolset::partitions)
                .findFirst()
                .orElse(1);
    }

    /** How long records of this topic stay if it is made. */
    Duration retention(Topic topic) {
        return topic.name().equals(topics.tokens()) ? settings.tokensRetention() : topic.retention();
    }

    /** What to make this topic with, where it is missing. */
    NewTopic asMade(Topic topic) {
        Map<String, String> config = new LinkedHashMap<>();
        config.put(TopicConfig.CLEANUP_POLICY_CONFIG, policy(topic));
        config.put(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, Integer.toString(topic.maxMessageBytes()));
        if (topic.cleanup() == Cleanup.DELETE) {
            Duration retention = retention(topic);
            config.put(TopicConfig.RETENTION_MS_CONFIG, Long.toString(retention.toMillis()));
            config.put(
                    TopicConfig.SEGMENT_MS_CONFIG,
                    Long.toString(segment(topic, retention).toMillis()));
        } else {
            // what is replaced or deleted goes, also where little is written
            config.put(TopicConfig.MAX_COMPACTION_LAG_MS_CONFIG, Long.toString(Topics.COMPACTION_LAG.toMillis()));
        }
        if (topics.datedByBroker(topic)) {
            config.put(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, TimestampType.LOG_APPEND_TIME.name);
        }
        Optional<Short> replication = settings.replication() == TopicSettings.BROKER_DEFAULT
                ? Optional.empty()
                : Optional.of((short) settings.replication());
        return new NewTopic(topic.name(), Optional.of(partitions(topic)), replication).configs(config);
    }

    /**
     * How long a segment is written to. Only closed ones are deleted, and the retention counts from the newest record;
     * Kafka would go on with one for a week, or a gigabyte.
     */
    private Duration segment(Topic topic, Duration retention) {
        if (topic.name().equals(topics.rates())) {
            return retention; // small enough for the retention to mean something
        }
        if (retention.compareTo(SHORT_RETENTION) < 0) {
            return retention.dividedBy(2);
        }
        Duration quarter = retention.dividedBy(4);
        return quarter.compareTo(LONGEST_SEGMENT) < 0 ? quarter : LONGEST_SEGMENT;
    }

    /** The {@code cleanup.policy} that this topic has to have. */
    static String policy(Topic topic) {
        return topic.cleanup().name().toLowerCase(Locale.ROOT);
    }

    /**
     * What is wrong with the topics that were found, a line for each under a heading, and then what to do; empty if all
     * is well.
     *
     * @param found by name
     * @param withMissing whether a topic that was not found is a problem
     */
    String report(Map<String, Found> found, boolean withMissing) {
        List<String> lines = new ArrayList<>();
        List<String> advice = new ArrayList<>();
        if (withMissing) {
            missingTopics(found, lines, advice);
        }
        wrongPartitions(found, lines, advice);
        wrongCleanup(found, lines, advice);
        tooNarrow(found, lines, advice);
        return lines.isEmpty()
                ? ""
                : "The topics (prefix \"" + topics.prefix() + "\") are not as this service needs them:\n"
                        + String.join("\n", lines) + "\nWhat to do:\n" + String.join("\n", advice);
    }

    private void missingTopics(Map<String, Found> found, List<String> lines, List<String> advice) {
        List<Topic> missing = missing(found);
        if (missing.isEmpty()) {
            return;
        }
        missing.forEach(topic -> lines.add("  " + topic.name() + ": expected a topic with " + counted(partitions(topic))
                + " and cleanup.policy=" + policy(topic) + ", found none"));
        advice.add(
                settings.create()
                        ? "  missing: they were just made and the brokers still do not know them; look at the brokers'"
                                + " logs."
                        : "  missing: make them (docs/events.md lists them all), or set millrace.topics.create=true; if"
                                + " they exist under another prefix, set millrace.topics.prefix.");
    }

    private static String counted(int partitions) {
        return partitions + (partitions == 1 ? " partition" : " partitions");
    }

    private void wrongPartitions(Map<String, Found> found, List<String> lines, List<String> advice) {
        Map<Topic, Found> wrong = there(
                all().stream().filter(Topic::coPartitioned),
                found,
                (topic, one) -> one.partitions() != settings.partitions());
        if (wrong.isEmpty()) {
            return;
        }
        wrong.forEach((topic, one) -> lines.add(
                "  " + topic.name() + ": expected " + counted(settings.partitions()) + ", found " + one.partitions()));
        Set<Integer> counts =
                there(all().stream().filter(Topic::coPartitioned), found, (topic, one) -> true).values().stream()
                        .map(Found::partitions)
                        .collect(Collectors.toUnmodifiableSet());
        advice.add(
                counts.size() == 1
                        ? "  partitions: the existing topics agree, so set millrace.topics.partitions="
                                + counts.iterator().next()
                                + " (in every service)."
                        : "  partitions: the counts must be equal, because keys meet across these topics. Delete the"
                                + " topics that are wrong and make them again with nothing running; adding partitions"
                                + " to a topic in use moves keys and breaks the order within a session.");
    }

    private void wrongCleanup(Map<String, Found> found, List<String> lines, List<String> advice) {
        Map<Topic, Found> wrong =
                there(all().stream(), found, (topic, one) -> !one.cleanup().equals(Set.of(policy(topic))));
        wrong.forEach((topic, one) -> lines.add("  " + topic.name() + ": expected cleanup.policy=" + policy(topic)
                + ", found " + one.cleanup().stream().sorted().collect(Collectors.joining(","))));
        wrong.keySet().stream()
                .findFirst()
                .ifPresent(first -> advice.add(
                        "  cleanup.policy: compaction loses events, deletion loses definitions, so set it right, for example"
                                + alter(first, "cleanup.policy=" + policy(first))));
    }

    /** A record that is measured by what the catalogue says must not be refused by a broker. */
    private void tooNarrow(Map<String, Found> found, List<String> lines, List<String> advice) {
        Map<Topic, Found> wrong =
                there(topics.all().stream(), found, (topic, one) -> one.maxMessageBytes() < topic.maxMessageBytes());
        wrong.forEach((topic, one) -> lines.add("  " + topic.name() + ": expected max.message.bytes of at least "
                + topic.maxMessageBytes() + ", found " + one.maxMessageBytes()));
        wrong.keySet().stream()
                .findFirst()
                .ifPresent(first -> advice.add("  max.message.bytes: raise it, for example"
                        + alter(first, "max.message.bytes=" + first.maxMessageBytes())));
    }

    private static String alter(Topic topic, String setting) {
        return " kafka-configs.sh --alter --entity-type topics --entity-name " + topic.name() + " --add-config "
                + setting + ".";
    }

    /** Those of these topics that were found and are like this, in order. */
    private static Map<Topic, Found> there(
            Stream<Topic> topics, Map<String, Found> found, BiPredicate<Topic, Found> like) {
        Map<Topic, Found> there = new LinkedHashMap<>();
        topics.forEach(topic -> {
            Found one = found.get(topic.name());
            if (one != null && like.test(topic, one)) {
                there.put(topic, one);
            }
        });
        return there;
    }
}
