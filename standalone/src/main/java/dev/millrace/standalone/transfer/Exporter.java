package dev.millrace.standalone.transfer;

import dev.millrace.agent.topology.TaskRehoming;
import dev.millrace.engine.Rehoming;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.Cluster;
import dev.millrace.gateway.kafka.ForgottenTopic;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.reflection.topology.MemoryRehoming;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Extensions;
import dev.millrace.schemas.Forgotten;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Writes an installation that stands still to a file: the state of its machines, what they and workers have not read
 * yet, and what its topics keep. Live text and claims of rates are worth nothing by then, and what has been forgotten
 * is left out, so that it stays so. Changes nothing. For one thread.
 */
public final class Exporter {

    /** What the names of request topics begin with behind the prefix. */
    static final String REQUESTS = new Topics("").requests("");

    private static final Set<String> TOLD_BY_MACHINES = Set.of(Topics.MEMORY_TOOLSET, Changelog.REFLECTION);

    private final ClientSettings kafka;
    private final Topics topics;
    private final String version;
    private final Said said;

    /** Is told how far it is. */
    @FunctionalInterface
    public interface Said {
        /**
         * So many records of a topic are done.
         *
         * @param topic without the prefix
         */
        void records(String topic, long records);
    }

    /**
     * Of the installation that has these topics.
     *
     * @param kafka how to reach the brokers
     * @param version of Millrace
     */
    public Exporter(ClientSettings kafka, Topics topics, String version, Said said) {
        this.kafka = kafka;
        this.topics = topics;
        this.version = version;
        this.said = said;
    }

    /**
     * Writes the file, which is there when it is whole, and says how many records of each topic it has.
     *
     * @throws TransferException if the installation runs, is none, or cannot be moved as it is
     * @throws FileAlreadyExistsException if there is such a file
     */
    public Map<String, Long> export(Path file) throws TransferException, IOException, InterruptedException {
        if (Files.exists(file)) {
            throw new FileAlreadyExistsException(file.toString());
        }
        try (StoppedInstallation installation = new StoppedInstallation(kafka, topics)) {
            Map<String, Integer> partitions = installation.partitions();
            Integer journal = partitions.get(name(topics.journal()));
            if (journal == null) {
                throw new TransferException("expected an installation with the topics " + topics.prefix()
                        + "…, found no topic " + topics.journal());
            }
            installation.requireStopped();
            Map<String, Map<String, String>> changelogs = new TreeMap<>();
            for (String changelog : Changelog.ALL.keySet()) {
                if (partitions.containsKey(changelog)) {
                    changelogs.put(changelog, installation.config(topics.prefix() + changelog));
                }
            }
            Archive.Origin origin = new Archive.Origin(
                    Archive.FORMAT,
                    version,
                    topics.prefix(),
                    journal,
                    partitions,
                    changelogs,
                    Instant.now().toString());
            try (Archive.Writer writer = new Archive.Writer(file, origin)) {
                Copying copying = new Copying(installation, origin, writer);
                copying.all();
                copying.requireUnchanged();
                writer.finish();
                return Map.copyOf(writer.counts());
            }
        }
    }

    private String name(String topic) {
        return topic.substring(topics.prefix().length());
    }

    /** One export under way. */
    private final class Copying {

        private final StoppedInstallation installation;
        private final Archive.Origin origin;
        private final Archive.Writer writer;
        /**
         * Calls that are still on the topics of toolsets, as far as no answer has been found, by their keys; of each
         * what an answer has to show, empty = nothing.
         */
        private final Map<String, String> unanswered = new HashMap<>();
        /** Up to where each topic has been read. */
        private final Map<TopicPartition, Long> ends = new HashMap<>();

        Copying(StoppedInstallation installation, Archive.Origin origin, Archive.Writer writer) {
            this.installation = installation;
            this.origin = origin;
            this.writer = writer;
        }

        void all() throws TransferException, IOException, InterruptedException {
            state();
            Map<TopicPartition, Long> byAgent = installation.readByMachine(Changelog.AGENT);
            Map<TopicPartition, Long> byReflection = installation.readByMachine(Changelog.REFLECTION);
            // what is not done begins where somebody is behind; others may have been done since, out of turn
            Map<String, Map<TopicPartition, Long>> toolsets = new TreeMap<>();
            for (String topic : origin.topics().keySet()) {
                String toolset = topic.startsWith(REQUESTS) ? topic.substring(REQUESTS.length()) : "";
                if (!toolset.isEmpty() && !TOLD_BY_MACHINES.contains(toolset)) {
                    toolsets.put(topic, installation.readByWorkers(toolset));
                    reading(topic, toolsets.get(topic))
                            .forEach(found -> callOf(found).ifPresent(call -> unanswered.put(call, token(found))));
                }
            }
            for (String lane : topics.lanes()) {
                copy(name(lane), byAgent, found -> {
                    // not known to be believed, unless it shows what it has to
                    answered(found)
                            .filter(call -> token(found).equals(unanswered.get(call)))
                            .ifPresent(unanswered::remove);
                    return true;
                });
            }
            copy(name(topics.memoryRequests()), byReflection, found -> true);
            copy(name(topics.reflectionRequests()), byReflection, found -> true);
            records();
            for (Map.Entry<String, Map<TopicPartition, Long>> toolset : toolsets.entrySet()) {
                copy(
                        toolset.getKey(),
                        toolset.getValue(),
                        found -> callOf(found).map(unanswered::containsKey).orElse(true));
            }
        }

        private void state() throws TransferException, IOException, InterruptedException {
            Rehoming tasks = new TaskRehoming(origin.partitions(), origin.partitions());
            Rehoming memory = new MemoryRehoming(origin.partitions());
            for (Changelog changelog : Changelog.ALL.values()) {
                copyNewest(
                        changelog.name(),
                        changelog.store(),
                        changelog.machine().equals(Changelog.AGENT) ? tasks : memory);
            }
        }

        private void records() throws TransferException, IOException, InterruptedException {
            for (String topic : List.of(topics.definitions(), topics.memory(), topics.knowledge())) {
                copyNewest(name(topic), "", null);
            }
            for (String topic : List.of(topics.content(), topics.variables(), topics.audit())) {
                copy(name(topic), Map.of(), found -> true);
            }
            copy(
                    name(topics.forgotten()),
                    Map.of(),
                    found -> Forgotten.fromJson(found.value()).isPresent());
            try (ForgottenTopic forgotten = new ForgottenTopic(new Cluster(kafka, topics))) {
                if (origin.topics().containsKey(name(topics.forgotten()))) {
                    forgotten.readUpToNow();
                }
                copy(name(topics.journal()), Map.of(), found -> {
                    answered(found).ifPresent(unanswered::remove);
                    return !forgotten.hidesEntry(found);
                });
                copy(name(topics.deadLetters()), Map.of(), found -> !forgotten.hidesLetter(found));
            } catch (BrokerUnavailableException e) {
                throw new TransferException(String.valueOf(e.getMessage()), e);
            }
        }

        private TopicReading reading(String name, Map<TopicPartition, Long> from)
                throws TransferException, InterruptedException {
            Collection<TopicPartition> partitions = StoppedInstallation.partitions(
                    topics.prefix() + name, origin.topics().getOrDefault(name, 0));
            Map<TopicPartition, Long> begin = new HashMap<>(from);
            begin.keySet().retainAll(partitions);
            Map<TopicPartition, Long> end = installation.ends(partitions);
            end.forEach(ends::putIfAbsent);
            return new TopicReading(kafka, begin, end);
        }

        /** Complains if somebody has written to a topic since it was read, or begun to. */
        void requireUnchanged() throws TransferException, InterruptedException {
            Map<TopicPartition, Long> now = installation.ends(ends.keySet());
            for (Map.Entry<TopicPartition, Long> end : ends.entrySet()) {
                if (!end.getValue().equals(now.get(end.getKey()))) {
                    throw new TransferException("expected nobody to write to the topics meanwhile, found "
                            + end.getKey().topic()
                            + " to have grown since it was read. Stop whoever does, and export again");
                }
            }
        }

        private void copy(String name, Map<TopicPartition, Long> from, Predicate<ConsumerRecord<byte[], byte[]>> wanted)
                throws TransferException, IOException, InterruptedException {
            if (origin.topics().containsKey(name)) {
                reading(name, from).forEach(found -> {
                    if (wanted.test(found)) {
                        add(name, found);
                    }
                });
            }
        }

        private void copyNewest(String name, String store, @Nullable Rehoming rehoming)
                throws TransferException, IOException, InterruptedException {
            if (!origin.topics().containsKey(name)) {
                return;
            }
            List<String> obstacles = new ArrayList<>();
            reading(name, Map.of()).forEachNewest(found -> {
                if (rehoming != null) {
                    rehoming.obstacle(new Rehoming.Row(store, found.partition(), found.key(), found.value()))
                            .ifPresent(obstacles::add);
                }
                add(name, found);
            });
            if (!obstacles.isEmpty()) {
                throw new TransferException(
                        "Not now: " + obstacles.stream().limit(3).collect(Collectors.joining("; "))
                                + ". Start the services again until it is done, then stop them");
            }
        }

        private void add(String name, ConsumerRecord<byte[], byte[]> found) throws IOException {
            writer.add(Archive.Entry.of(name, found));
            said.records(name, writer.counts().getOrDefault(name, 0L));
        }

        /** The call that this record answers, if there are any to be answered. */
        private Optional<String> answered(ConsumerRecord<byte[], byte[]> found) {
            return unanswered.isEmpty()
                    ? Optional.empty()
                    : event(found).map(event -> switch (event.payload()) {
                        case Payload.ToolCallCompleted done -> key(event, done.callId());
                        case Payload.ToolCallFailed failed -> key(event, failed.callId());
                        default -> null;
                    });
        }

        private static String token(ConsumerRecord<byte[], byte[]> found) {
            Header token = found.headers().lastHeader(EventCodec.CE_PREFIX + Extensions.REPLY_TOKEN);
            return token == null ? "" : new String(token.value(), StandardCharsets.UTF_8);
        }

        private Optional<String> callOf(ConsumerRecord<byte[], byte[]> found) {
            return event(found)
                    .map(event -> event.payload() instanceof Payload.ToolCallRequested call
                            ? key(event, call.callId())
                            : null);
        }

        private static Optional<Event> event(ConsumerRecord<byte[], byte[]> found) {
            try {
                return Optional.of(
                        EventCodec.fromRecord(found.headers(), found.value(), Instant.ofEpochMilli(found.timestamp())));
            } catch (MalformedEventException e) {
                return Optional.empty();
            }
        }

        private static String key(Event event, String callId) {
            return Event.qualified(event.namespace(), callId);
        }
    }
}
