package dev.millrace.agent.kafka;

import dev.millrace.agent.kafka.ToolsetWatch.Reading;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.ShareGroupDescription;
import org.apache.kafka.clients.admin.SharePartitionOffsetInfo;
import org.apache.kafka.clients.admin.StreamsGroupDescription;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Asks the brokers which groups read request topics, of whatever kind, and how far they are. Connects when it is asked.
 */
final class RequestReaders implements ToolsetWatch.Readers {

    /** More groups are not described in one look; where there are more, nobody is said to be missing. */
    static final int MAX_GROUPS = 500;

    private static final int ANSWER_MS = 5_000;
    private static final String CONSUMERS = "consumer";
    private static final Set<GroupState> WITHOUT_MEMBERS = Set.of(GroupState.EMPTY, GroupState.DEAD);

    private final ClientSettings kafka;
    private final Topics topics;
    /** Groups that have read a topic, also those that have no members any more. */
    private final Map<String, Set<Group>> readersOf = new HashMap<>();

    private @Nullable Admin admin;

    /** A group, and whether it shares records instead of partitions. */
    private record Group(String id, boolean shares) {}

    RequestReaders(ClientSettings kafka, Topics topics) {
        this.kafka = kafka.as("millrace-agent-toolsets")
                .with(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ANSWER_MS)
                .with(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, ANSWER_MS)
                .with(AdminClientConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 10_000);
        this.topics = topics;
    }

    @Override
    public Map<String, Reading> ask(Set<String> toolsets) throws InterruptedException {
        Admin open = admin == null ? Admin.create(kafka.values()) : admin;
        admin = open;
        return new Look(open, toolsets.stream().collect(Collectors.toMap(topics::requests, Function.identity()))).run();
    }

    /** One round of questions. */
    private final class Look {
        private final Admin open;
        private final Map<String, String> toolsetOf;
        private final Map<String, List<TopicPartition>> partitions = new HashMap<>();
        /** Members by topic and group. */
        private final Map<String, Map<Group, Integer>> members = new HashMap<>();
        /** Whether every group with members was seen. */
        private boolean complete = true;

        Look(Admin open, Map<String, String> toolsetOf) {
            this.open = open;
            this.toolsetOf = toolsetOf;
        }

        Map<String, Reading> run() throws InterruptedException {
            findPartitions();
            Collection<GroupListing> groups = get(open.listGroups().valid());
            describe(groups.stream()
                    .filter(group ->
                            !WITHOUT_MEMBERS.contains(group.groupState().orElse(GroupState.UNKNOWN)))
                    .toList());
            findFormerReaders(groups.stream()
                    .filter(group -> WITHOUT_MEMBERS.contains(group.groupState().orElse(GroupState.UNKNOWN)))
                    .toList());
            Map<String, Reading> readings = new HashMap<>();
            for (Map.Entry<String, String> topic : toolsetOf.entrySet()) {
                Map<Group, Integer> reading = members.getOrDefault(topic.getKey(), Map.of());
                int workers =
                        reading.values().stream().mapToInt(Integer::intValue).sum();
                if (workers > 0 || complete) {
                    readings.put(topic.getValue(), new Reading(workers, backlog(topic.getKey(), reading.keySet())));
                }
            }
            return readings;
        }

        /** A topic that is not there has none. */
        private void findPartitions() throws InterruptedException {
            for (Map.Entry<String, KafkaFuture<TopicDescription>> topic :
                    open.describeTopics(toolsetOf.keySet()).topicNameValues().entrySet()) {
                TopicDescription described = ifAny(topic.getValue());
                if (described != null) {
                    partitions.put(
                            topic.getKey(),
                            described.partitions().stream()
                                    .map(info -> new TopicPartition(topic.getKey(), info.partition()))
                                    .toList());
                }
            }
        }

        private void describe(List<GroupListing> withMembers) throws InterruptedException {
            complete = withMembers.size() <= MAX_GROUPS;
            List<GroupListing> some = withMembers.stream().limit(MAX_GROUPS).toList();
            for (Map.Entry<String, KafkaFuture<ShareGroupDescription>> group : open.describeShareGroups(
                            ids(some, GroupType.SHARE))
                    .describedGroups()
                    .entrySet()) {
                ShareGroupDescription described = ifAny(group.getValue());
                complete &= described != null;
                if (described != null) {
                    described
                            .members()
                            .forEach(member -> reads(
                                    new Group(group.getKey(), true),
                                    topicsIn(member.assignment().topicPartitions())));
                }
            }
            for (Map.Entry<String, KafkaFuture<ConsumerGroupDescription>> group : open.describeConsumerGroups(
                            ids(some, GroupType.CONSUMER, GroupType.CLASSIC))
                    .describedGroups()
                    .entrySet()) {
                ConsumerGroupDescription described = ifAny(group.getValue());
                complete &= described != null;
                if (described != null) {
                    described
                            .members()
                            .forEach(member -> reads(
                                    new Group(group.getKey(), false),
                                    topicsIn(member.assignment().topicPartitions())));
                }
            }
            for (Map.Entry<String, KafkaFuture<StreamsGroupDescription>> group : open.describeStreamsGroups(
                            ids(some, GroupType.STREAMS))
                    .describedGroups()
                    .entrySet()) {
                StreamsGroupDescription described = ifAny(group.getValue());
                complete &= described != null;
                if (described != null) {
                    Set<String> sources = described.subtopologies().stream()
                            .flatMap(subtopology -> subtopology.sourceTopics().stream())
                            .collect(Collectors.toSet());
                    described.members().forEach(member -> reads(new Group(group.getKey(), false), sources));
                }
            }
        }

        private void reads(Group group, Set<String> sources) {
            for (String topic : sources) {
                if (toolsetOf.containsKey(topic)) {
                    members.computeIfAbsent(topic, name -> new HashMap<>()).merge(group, 1, Integer::sum);
                    readersOf.computeIfAbsent(topic, name -> new HashSet<>()).add(group);
                }
            }
        }

        /** Of topics of which no reader is known yet: once, since whoever joins later is seen then. */
        private void findFormerReaders(List<GroupListing> withoutMembers) throws InterruptedException {
            List<TopicPartition> unread = partitions.entrySet().stream()
                    .filter(topic -> !readersOf.containsKey(topic.getKey()))
                    .flatMap(topic -> topic.getValue().stream())
                    .toList();
            if (unread.isEmpty()) {
                return;
            }
            List<GroupListing> some = withoutMembers.stream().limit(MAX_GROUPS).toList();
            topicsIn(unread).forEach(topic -> readersOf.put(topic, new HashSet<>()));
            List<Group> candidates = Stream.concat(
                            ids(some, GroupType.SHARE).stream().map(id -> new Group(id, true)),
                            ids(some, GroupType.CONSUMER, GroupType.CLASSIC, GroupType.STREAMS).stream()
                                    .map(id -> new Group(id, false)))
                    .toList();
            for (Map.Entry<Group, Map<TopicPartition, Long>> found :
                    unfinished(candidates, unread, Map.of()).entrySet()) {
                topicsIn(found.getValue().keySet())
                        .forEach(topic -> readersOf
                                .computeIfAbsent(topic, name -> new HashSet<>())
                                .add(found.getKey()));
            }
        }

        /**
         * Calls on a topic that the groups which read it have not finished; of several that of the one that is least
         * behind. Of a topic that nobody has ever read it is all that is there.
         */
        private OptionalLong backlog(String topic, Set<Group> reading) throws InterruptedException {
            List<TopicPartition> parts = partitions.getOrDefault(topic, List.of());
            if (parts.isEmpty()) {
                return OptionalLong.empty();
            }
            Map<TopicPartition, Long> ends = offsets(parts, OffsetSpec.latest());
            Map<TopicPartition, Long> begins = offsets(parts, OffsetSpec.earliest());
            Set<Group> groups = reading.isEmpty() ? readersOf.getOrDefault(topic, Set.of()) : reading;
            Collection<Map<TopicPartition, Long>> places = groups.isEmpty()
                    ? List.of(Map.of())
                    : unfinished(List.copyOf(groups), parts, ends).values();
            return places.stream()
                    .mapToLong(from -> parts.stream()
                            .mapToLong(part -> {
                                long begin = begins.getOrDefault(part, 0L);
                                long end = ends.getOrDefault(part, 0L);
                                return Math.max(0, end - Math.max(begin, from.getOrDefault(part, begin)));
                            })
                            .sum())
                    .min();
        }

        /** From where on groups have not finished these partitions; those are left out that they have not begun. */
        private Map<Group, Map<TopicPartition, Long>> unfinished(
                List<Group> groups, List<TopicPartition> parts, Map<TopicPartition, Long> ends)
                throws InterruptedException {
            Map<Group, Map<TopicPartition, Long>> found = new HashMap<>();
            List<Group> sharing = groups.stream().filter(Group::shares).toList();
            if (!sharing.isEmpty()) {
                var answers = open.listShareGroupOffsets(sharing.stream()
                        .collect(Collectors.toMap(
                                Group::id, group -> new ListShareGroupOffsetsSpec().topicPartitions(parts))));
                for (Group group : sharing) {
                    Map<TopicPartition, SharePartitionOffsetInfo> offsets =
                            ifAny(answers.partitionsToOffsetInfo(group.id()));
                    found.put(group, known(offsets, (part, of) -> {
                        // what is finished behind the start does not count
                        Long end = ends.get(part);
                        return end != null && of.lag().isPresent()
                                ? end - of.lag().get()
                                : of.startOffset();
                    }));
                }
            }
            List<Group> others =
                    groups.stream().filter(group -> !group.shares()).toList();
            if (!others.isEmpty()) {
                var answers = open.listConsumerGroupOffsets(others.stream()
                        .collect(Collectors.toMap(
                                Group::id, group -> new ListConsumerGroupOffsetsSpec().topicPartitions(parts))));
                for (Group group : others) {
                    Map<TopicPartition, OffsetAndMetadata> offsets =
                            ifAny(answers.partitionsToOffsetAndMetadata(group.id()));
                    found.put(group, known(offsets, (part, of) -> of.offset()));
                }
            }
            return found;
        }

        private Map<TopicPartition, Long> offsets(List<TopicPartition> parts, OffsetSpec which)
                throws InterruptedException {
            Map<TopicPartition, Long> offsets = new HashMap<>();
            get(open.listOffsets(
                                    parts.stream().collect(Collectors.toMap(Function.identity(), part -> which)),
                                    new ListOffsetsOptions(IsolationLevel.READ_COMMITTED))
                            .all())
                    .forEach((part, found) -> offsets.put(part, found.offset()));
            return offsets;
        }
    }

    private static <T> Map<TopicPartition, Long> known(
            @Nullable Map<TopicPartition, T> offsets, BiFunction<TopicPartition, T, Long> offset) {
        Map<TopicPartition, Long> known = new HashMap<>();
        if (offsets != null) {
            offsets.forEach((part, found) -> {
                if (found != null) {
                    known.put(part, offset.apply(part, found));
                }
            });
        }
        return Collections.unmodifiableMap(known);
    }

    private static List<String> ids(List<GroupListing> groups, GroupType... types) {
        List<String> ids = new ArrayList<>();
        for (GroupListing group : groups) {
            boolean ofType = Stream.of(types).anyMatch(type -> group.type().orElse(GroupType.CLASSIC) == type);
            boolean classic = group.type().orElse(GroupType.CLASSIC) == GroupType.CLASSIC;
            // others of the classic kind are no consumers
            if (ofType
                    && (!classic
                            || group.protocol().isEmpty()
                            || group.protocol().equals(CONSUMERS))) {
                ids.add(group.groupId());
            }
        }
        return ids;
    }

    private static Set<String> topicsIn(Collection<TopicPartition> parts) {
        return parts.stream().map(TopicPartition::topic).collect(Collectors.toSet());
    }

    /** The answer; {@code null} if there is none about this one, such as a group that went away or may not be seen. */
    private static <T> @Nullable T ifAny(KafkaFuture<T> future) throws InterruptedException {
        try {
            return future.get(2L * ANSWER_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            return null;
        } catch (TimeoutException e) {
            throw new KafkaException("no answer within " + 2 * ANSWER_MS + " ms", e);
        }
    }

    private static <T> T get(KafkaFuture<T> future) throws InterruptedException {
        try {
            return future.get(2L * ANSWER_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new KafkaException("the brokers do not say: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        if (admin != null) {
            admin.close(Duration.ofSeconds(1));
            admin = null;
        }
    }
}
