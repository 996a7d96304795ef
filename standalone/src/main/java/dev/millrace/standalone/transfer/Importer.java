package dev.millrace.standalone.transfer;

import dev.millrace.agent.topology.TaskRehoming;
import dev.millrace.engine.MachineStreams;
import dev.millrace.engine.Rehoming;
import dev.millrace.engine.UnreadableRowException;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.kafka.TopicSetupException;
import dev.millrace.reflection.topology.MemoryRehoming;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Makes an installation of a file that an {@link Exporter} has written, where there is none: with the same prefix or
 * another, and with any number of partitions. For one thread.
 */
public final class Importer {

    private static final Duration TOPICS_LIMIT = Duration.ofSeconds(60);
    private static final Duration IN_FORCE = Duration.ofSeconds(2);
    /** What holds for what stands before it on its partition, and therefore means nothing on others. */
    private static final Set<String> OF_A_PARTITION = Set.of(
            KnownEventType.FORGET_REQUESTED.wireName(),
            KnownEventType.TASKS_FORGOTTEN.wireName(),
            KnownEventType.MEMORY_FORGOTTEN.wireName());

    private static final byte[] FILLER = "filler".getBytes(StandardCharsets.UTF_8);

    private static final List<Archive.Head> NONE = List.of();
    private static final long ANYWHERE = -1;

    private final ClientSettings kafka;
    private final Topics topics;
    private final Exporter.Said said;

    /**
     * Into topics with the prefix of these.
     *
     * @param kafka how to reach the brokers
     */
    public Importer(ClientSettings kafka, Topics topics, Exporter.Said said) {
        this.kafka = kafka;
        this.topics = topics;
        this.said = said;
    }

    /**
     * Writes all of it, and says how many records went to each topic.
     *
     * @param partitions of the lanes and of the journal; 0 = as many as where the file comes from
     * @param replication on how many brokers each topic is to be; {@link TopicSettings#BROKER_DEFAULT} leaves it to
     *     them
     * @throws TransferException if there is an installation already, or the file is none of an installation, is not
     *     whole, or of a newer version. Topics that it had made by then stay
     */
    public Map<String, Long> run(Path file, int partitions, int replication)
            throws TransferException, IOException, InterruptedException {
        Archive.Origin origin = Archive.origin(file);
        int to = partitions == 0 ? origin.partitions() : partitions;
        try (StoppedInstallation installation = new StoppedInstallation(kafka, topics)) {
            requireNone(installation);
            Moved moved = new Moved(origin, to);
            // looked through to its end first, so that nothing is made of what is not whole
            Archive.read(file, moved::look);
            moved.requireMovable();
            boolean there = !installation.partitions().isEmpty();
            make(installation, origin, to, replication);
            Map<String, Integer> counts = installation.partitions();
            Set<String> dated = Stream.concat(
                            topics.all().stream(), toolsets(origin).map(topics::toolset))
                    .filter(topics::datedByBroker)
                    .map(Topics.Topic::name)
                    .collect(Collectors.toUnmodifiableSet());
            if (there) {
                installation.set(dated, TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, TimestampType.CREATE_TIME.name);
                // each broker hears of it by itself, and none says whether it has
                TimeUnit.NANOSECONDS.sleep(IN_FORCE.toNanos());
            }
            Writing writing = new Writing(moved, counts, dated);
            try (writing) {
                Archive.read(file, writing::take);
                writing.finish();
            } catch (TransferException | KafkaException e) {
                throw new TransferException(
                        e.getMessage() + ". What has been written is not whole: delete the topics with the prefix "
                                + topics.prefix() + ", or the data folder, before you try again",
                        e);
            }
            installation.set(dated, TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, TimestampType.LOG_APPEND_TIME.name);
            installation.deleteBefore(writing.begins());
            return Map.copyOf(writing.written);
        }
    }

    private void requireNone(StoppedInstallation installation) throws TransferException, InterruptedException {
        installation.requireStopped();
        List<TopicPartition> all = new ArrayList<>();
        installation
                .partitions()
                .forEach((name, count) -> all.addAll(StoppedInstallation.partitions(topics.prefix() + name, count)));
        for (Map.Entry<TopicPartition, Long> end : installation.ends(all).entrySet()) {
            if (end.getValue() > 0) {
                throw new TransferException("expected no installation with the prefix " + topics.prefix()
                        + " yet, found records on " + end.getKey().topic()
                        + ". Take another prefix, another data folder or another cluster");
            }
        }
    }

    private void make(StoppedInstallation installation, Archive.Origin origin, int to, int replication)
            throws TransferException, InterruptedException {
        List<String> toolsets = toolsets(origin)
                .map(toolset -> toolset + ":" + origin.topics().get(Exporter.REQUESTS + toolset))
                .toList();
        try {
            TopicSetup.ensureKeepingDates(
                    installation.admin(),
                    topics,
                    new TopicSettings(to, replication, true).with(toolsets),
                    TOPICS_LIMIT);
        } catch (TopicSetupException | IllegalArgumentException e) {
            throw new TransferException(String.valueOf(e.getMessage()), e);
        }
        Map<String, Integer> there = installation.partitions();
        String content = name(topics.content());
        int places = origin.topics().getOrDefault(content, 1);
        if (there.getOrDefault(content, places) < places) {
            installation.widen(topics.content(), places);
        }
        for (Map.Entry<String, Map<String, String>> changelog :
                origin.changelogs().entrySet()) {
            if (!there.containsKey(changelog.getKey())) {
                installation.make(new NewTopic(
                                topics.prefix() + changelog.getKey(),
                                Optional.of(to),
                                replication == TopicSettings.BROKER_DEFAULT
                                        ? Optional.empty()
                                        : Optional.of((short) replication))
                        .configs(changelog.getValue()));
            }
        }
    }

    /** Those of workers of somebody's own. */
    private static Stream<String> toolsets(Archive.Origin origin) {
        return origin.topics().keySet().stream()
                .filter(topic -> topic.startsWith(Exporter.REQUESTS))
                .map(topic -> topic.substring(Exporter.REQUESTS.length()))
                .filter(toolset -> !Topics.OWN_TOOLSETS.contains(toolset));
    }

    private String name(String topic) {
        return topic.substring(topics.prefix().length());
    }

    /** Where everything is to go. */
    private final class Moved {

        private final Archive.Origin origin;
        private final int to;
        private final Rehoming tasks;
        private final Rehoming memory;
        private final List<String> lanes;
        private int concerningAll;

        Moved(Archive.Origin origin, int to) {
            this.origin = origin;
            this.to = to;
            this.tasks = new TaskRehoming(origin.partitions(), to);
            this.memory = new MemoryRehoming(to);
            this.lanes = topics.lanes().stream().map(Importer.this::name).toList();
        }

        /** Whether partitions are others than they were. */
        boolean elsewhere() {
            return to != origin.partitions();
        }

        void look(Archive.Entry entry) throws TransferException {
            withRow(entry, Rehoming::look);
            if (elsewhere()
                    && lanes.contains(entry.topic())
                    && entry.header(TaskRehoming.TO_EVERY_PARTITION).isPresent()) {
                concerningAll++;
            }
        }

        /** What every partition was told, and some have not read, cannot be told to others. */
        void requireMovable() throws TransferException {
            if (concerningAll > 0) {
                throw new TransferException("expected no unread record on a lane that concerns every partition, found "
                        + concerningAll + ", where partitions are to be others. Start the services that were exported"
                        + " until they have read it, stop them, and export them again; or import with --partitions "
                        + origin.partitions());
            }
        }

        /** Does this with the entry if it is a row of a machine, and says whether it is. */
        boolean withRow(Archive.Entry entry, BiConsumer<Rehoming, Rehoming.Row> action) throws TransferException {
            Changelog changelog = Changelog.ALL.get(entry.topic());
            byte[] key = entry.key();
            byte[] value = entry.value();
            if (changelog == null || key == null || value == null) {
                return changelog != null; // one without a value says that there is no row
            }
            try {
                action.accept(of(changelog), new Rehoming.Row(changelog.store(), entry.partition(), key, value));
                return true;
            } catch (UnreadableRowException | IllegalArgumentException e) {
                throw new TransferException(
                        "expected rows that this version can read, found in " + entry.topic() + ": " + e.getMessage(),
                        e);
            }
        }

        Rehoming of(Changelog changelog) {
            return changelog.machine().equals(Changelog.AGENT) ? tasks : memory;
        }
    }

    /** The topics being written. */
    private final class Writing implements AutoCloseable {

        private final Moved moved;
        private final Map<String, Integer> counts;
        /** The topics whose records have to keep their dates. */
        private final Set<String> dated;

        private final KafkaProducer<byte[], byte[]> producer;
        private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
        private final Map<String, Long> written = new TreeMap<>();
        /** The next place of each partition of the content. */
        private final Map<Integer, Long> places = new HashMap<>();
        /** The first one that is not a filler. */
        private final Map<TopicPartition, Long> begins = new HashMap<>();

        Writing(Moved moved, Map<String, Integer> counts, Set<String> dated) throws TransferException {
            this.moved = moved;
            this.counts = counts;
            this.dated = dated;
            ClientSettings config = kafka.with(ProducerConfig.ACKS_CONFIG, "all")
                    .with(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true)
                    .with(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4")
                    .with(ProducerConfig.LINGER_MS_CONFIG, 20)
                    .with(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, MachineStreams.MAX_RECORD_BYTES);
            try {
                this.producer =
                        new KafkaProducer<>(config.values(), new ByteArraySerializer(), new ByteArraySerializer());
            } catch (KafkaException e) {
                throw new TransferException(
                        "No Kafka client can be made from this configuration: " + e.getMessage(), e);
            }
        }

        Map<TopicPartition, Long> begins() {
            return begins;
        }

        void take(Archive.Entry entry) throws TransferException {
            boolean isRow = moved.withRow(
                    entry,
                    (rehoming, row) -> rehoming.place(
                            row,
                            (partition, key, value) ->
                                    send(entry.topic(), partition, entry.timestamp(), key, value, NONE, ANYWHERE)));
            if (entry.topic().equals(name(topics.content()))) {
                takeContent(entry);
            } else if (!isRow && meansSomething(entry)) {
                send(
                        entry.topic(),
                        partition(entry),
                        entry.timestamp(),
                        entry.key(),
                        entry.value(),
                        heads(entry),
                        ANYWHERE);
            }
            requireTaken();
        }

        /** Not what held for a partition that is another one now. */
        private boolean meansSomething(Archive.Entry entry) {
            return !moved.elsewhere()
                    || !entry.topic().equals(name(topics.journal()))
                    || entry.header(EventCodec.CE_TYPE)
                            .filter(OF_A_PARTITION::contains)
                            .isEmpty();
        }

        /** Writes what all rows of a store come to, and waits for everything to be taken. */
        void finish() throws TransferException {
            for (Changelog changelog : Changelog.ALL.values()) {
                moved.of(changelog)
                        .finish(
                                changelog.store(),
                                (partition, key, value) -> send(
                                        changelog.name(),
                                        partition,
                                        System.currentTimeMillis(),
                                        key,
                                        value,
                                        NONE,
                                        ANYWHERE));
            }
            producer.flush();
            requireTaken();
        }

        private void requireTaken() throws TransferException {
            Exception failed = failure.get();
            if (failed != null) {
                throw new TransferException("The brokers did not take a record: " + failed.getMessage(), failed);
            }
        }

        /** Results that are too large for an event are found by their places, so these stay as they are. */
        private void takeContent(Archive.Entry entry) {
            long next = places.getOrDefault(entry.partition(), 0L);
            begins.putIfAbsent(new TopicPartition(topics.content(), entry.partition()), entry.offset());
            for (; next < entry.offset(); next++) {
                send(entry.topic(), entry.partition(), entry.timestamp(), null, FILLER, NONE, next);
            }
            send(
                    entry.topic(),
                    entry.partition(),
                    entry.timestamp(),
                    entry.key(),
                    entry.value(),
                    heads(entry),
                    entry.offset());
            places.put(entry.partition(), entry.offset() + 1);
        }

        private int partition(Archive.Entry entry) {
            int count = counts.getOrDefault(entry.topic(), 1);
            if (count == moved.origin.topics().getOrDefault(entry.topic(), 0)) {
                return entry.partition();
            }
            byte[] key = entry.key();
            return key == null ? entry.partition() % count : Rehoming.home(key, count);
        }

        private static List<Archive.Head> heads(Archive.Entry entry) {
            return entry.headers() == null ? NONE : entry.headers();
        }

        private void send(
                String name,
                int partition,
                long timestamp,
                byte @Nullable [] key,
                byte @Nullable [] value,
                List<Archive.Head> headers,
                long place) {
            ProducerRecord<byte[], byte[]> record =
                    new ProducerRecord<>(topics.prefix() + name, partition, timestamp, key, value);
            headers.forEach(head -> record.headers().add(head.name(), head.value()));
            Future<RecordMetadata> unused = producer.send(record, (taken, failed) -> {
                if (failed != null) {
                    failure.compareAndSet(null, failed);
                } else if (place != ANYWHERE && taken.offset() != place) {
                    failure.compareAndSet(
                            null,
                            new IllegalStateException("expected the place " + place + " on " + record.topic()
                                    + ", found it at " + taken.offset()));
                } else if (dated.contains(record.topic()) && taken.timestamp() != timestamp) {
                    failure.compareAndSet(
                            null,
                            new IllegalStateException("expected " + record.topic()
                                    + " to keep the dates of records, found the brokers to date them: something has set"
                                    + " message.timestamp.type back, or it was not in force yet"));
                }
            });
            said.records(name, written.merge(name, 1L, Long::sum));
        }

        @Override
        public void close() {
            producer.close(Duration.ofSeconds(5));
        }
    }
}
