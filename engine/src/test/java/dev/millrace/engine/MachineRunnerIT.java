package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.ThreadMetadata;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A small machine on a real broker: it keeps the last record of each key. */
@RequiresBroker
class MachineRunnerIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final String STORE = "kept";

    @TempDir
    Path state;

    private final AtomicInteger made = new AtomicInteger();

    @Test
    @DisplayName(
            "a store whose files are damaged is deleted and built again from Kafka, without a restart of the process")
    void shouldReplaceADamagedStore(TestBroker broker) throws Exception {
        // given: a store that was closed well, and a file of which is gone
        Topics topics = broker.createTopics(1);
        try (MachineRunner first = runner(broker, topics, "a", STORE)) {
            first.start();
            awaitReady(first);
            broker.produceRaw(topics.lane(Segment.EXTERNAL), "key", Map.of(), "kept".getBytes(StandardCharsets.UTF_8));
            awaitValue(first);
        }
        deleteManifest(new LocalState(state.resolve("a"), group(topics)).folder(new TaskId(0, 0)));

        // when
        try (MachineRunner second = runner(broker, topics, "a", STORE)) {
            second.start();

            // then
            awaitValue(second);
            awaitReady(second);
            assertThat(made).hasValue(3);
            assertThat(second.fatal()).isEmpty();
        }
    }

    @Test
    @DisplayName("a machine whose changelog was made again does not lose what only its disk has")
    void shouldNotStartWithoutTheChangelogOfItsState(TestBroker broker) throws Exception {
        // given: state that was closed well
        Topics topics = broker.createTopics(1);
        try (MachineRunner first = runner(broker, topics, "a", STORE)) {
            first.start();
            awaitReady(first);
            broker.produceRaw(topics.lane(Segment.EXTERNAL), "key", Map.of(), "kept".getBytes(StandardCharsets.UTF_8));
            awaitValue(first);
            await().atMost(LIMIT).until(() -> origin(topics).contains("-changelog"));
        }
        String changelog = group(topics) + "-" + STORE + "-changelog";
        broker.admin().deleteTopics(List.of(changelog)).all().get();

        // when
        try (MachineRunner second = runner(broker, topics, "a", STORE)) {
            second.start();

            // then
            await().atMost(LIMIT).until(() -> second.fatal().isPresent());
            assertThat(second.fatal().orElseThrow())
                    .hasMessageStartingWith("expected the topic " + changelog)
                    .hasMessageContaining("What to do: keep a copy of that folder");
            assertThat(new LocalState(state.resolve("a"), group(topics)).folder(new TaskId(0, 0)))
                    .isDirectory();
        }
    }

    @Test
    @DisplayName("state of another cluster is deleted, and built from the changelogs of this one")
    void shouldNotTakeTheStateOfAnotherCluster(TestBroker broker) throws Exception {
        // given: two installations; the folder of the second has the state of the first, as of another cluster
        Topics here = broker.createTopics(1);
        try (MachineRunner first = runner(broker, here, "a", STORE)) {
            first.start();
            awaitReady(first);
            broker.produceRaw(here.lane(Segment.EXTERNAL), "key", Map.of(), "kept".getBytes(StandardCharsets.UTF_8));
            awaitValue(first);
        }
        Path file = originFile(here);
        Files.writeString(file, "{\"cluster\":\"elsewhere\",\"changelogs\":{}}");
        Path task = new LocalState(state.resolve("a"), group(here)).folder(new TaskId(0, 0));
        Path mark = Files.writeString(task.resolve("of-another-cluster"), "");

        // and: a process that ended after it had looked, and before it had deleted anything
        assertThat(new LocalState(state.resolve("a"), group(here))
                        .provenance(ClientSettings.at(broker.bootstrapServers()))
                        .beforeStart())
                .isInstanceOf(Provenance.Verdict.Elsewhere.class);
        assertThat(origin(here)).contains("elsewhere");

        // when
        try (MachineRunner second = runner(broker, here, "a", STORE)) {
            second.start();

            // then
            awaitValue(second);
            awaitReady(second);
            assertThat(mark).doesNotExist();
            assertThat(origin(here)).doesNotContain("elsewhere");
        }
    }

    private Path originFile(Topics topics) {
        return state.resolve("a").resolve(group(topics) + ".origin.json");
    }

    private String origin(Topics topics) throws IOException {
        return Files.readString(originFile(topics));
    }

    @Test
    @DisplayName("what the brokers say of a group tells an instance too many from one that they have forgotten")
    void shouldKnowWhyAMachineIsIdle(TestBroker broker) throws Exception {
        // given: two instances and one partition
        Topics topics = broker.createTopics(1);
        try (MachineRunner one = runner(broker, topics, "a", STORE);
                MachineRunner two = runner(broker, topics, "b", STORE)) {
            one.start();
            awaitReady(one);
            two.start();
            await().atMost(LIMIT).until(() -> members(broker, topics) == 2);
            IdleMachineWatch watch = new IdleMachineWatch(kafka(broker));

            // when // then
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(List.of(
                                    watch.ask(group(topics), clients(one)), watch.ask(group(topics), clients(two))))
                            .containsOnly(IdleMachineWatch.Finding.WELL));
            assertThat(watch.ask(group(topics), Set.of("a client that left")))
                    .isEqualTo(new IdleMachineWatch.Finding("the brokers do not count it to its group", true));
            assertThat(watch.ask(group(topics) + "-deleted", clients(one)))
                    .isEqualTo(new IdleMachineWatch.Finding("the brokers do not know its group", true));
        }
    }

    @Test
    @DisplayName("ADR 0020: a group that was used with other stores is not taken, and the reason says what to do")
    void shouldSayThatTheGroupIsOfAnotherVersion(TestBroker broker) {
        // given
        Topics topics = broker.createTopics(1);
        try (MachineRunner before = runner(broker, topics, "a", STORE)) {
            before.start();
            awaitReady(before);
        }

        // when
        try (MachineRunner after = runner(broker, topics, "a", "another")) {
            after.start();

            // then
            await().atMost(LIMIT).until(() -> after.fatal().isPresent());
            assertThat(after.fatal().orElseThrow())
                    .hasMessageStartingWith("expected the group " + group(topics) + " to be of this version")
                    .hasMessageContaining("millrace export and import to another data folder");
        }
    }

    private MachineRunner runner(TestBroker broker, Topics topics, String folder, String store) {
        ClientSettings kafka = kafka(broker);
        MachineStreams.Settings settings = new MachineStreams.Settings(
                "test machine", topics, group(topics), state.resolve(folder), 1, Duration.ofMillis(20));
        return new MachineRunner(
                kafka,
                "test-start",
                new MachineRunner.Installation(topics, new TopicSettings(1, TopicSettings.BROKER_DEFAULT, true)),
                new MachineRunner.Steps() {
                    @Override
                    public @Nullable String prepare() {
                        return null;
                    }

                    @Override
                    public MachineStreams machine() {
                        made.incrementAndGet();
                        return new MachineStreams(
                                MachineStreams.config(kafka, settings), settings, topology(topics, store));
                    }

                    @Override
                    public void started() {}
                });
    }

    private static Topology topology(Topics topics, String store) {
        return new Topology()
                .addSource(
                        "lane",
                        Serdes.String().deserializer(),
                        Serdes.String().deserializer(),
                        topics.lane(Segment.EXTERNAL))
                .addProcessor("keep", () -> new Keep(store), "lane")
                .addStateStore(
                        Stores.keyValueStoreBuilder(
                                Stores.persistentKeyValueStore(store), Serdes.String(), Serdes.String()),
                        "keep");
    }

    private static String group(Topics topics) {
        return topics.prefix() + "machine";
    }

    private static ClientSettings kafka(TestBroker broker) {
        return ClientSettings.at(broker.bootstrapServers());
    }

    private static Set<String> clients(MachineRunner runner) {
        return Set.copyOf(runner.streams().get().metadataForLocalThreads().stream()
                .map(ThreadMetadata::consumerClientId)
                .toList());
    }

    private static int members(TestBroker broker, Topics topics) throws Exception {
        return broker.admin()
                .describeStreamsGroups(List.of(group(topics)))
                .all()
                .get()
                .values()
                .iterator()
                .next()
                .members()
                .size();
    }

    private static void awaitReady(MachineRunner runner) {
        await().atMost(LIMIT).untilAsserted(() -> assertThat(runner.notReady()).isEmpty());
    }

    private static void awaitValue(MachineRunner runner) {
        await().atMost(LIMIT)
                .ignoreExceptions()
                .until(() -> "kept"
                        .equals(runner.streams()
                                .get()
                                .store(StoreQueryParameters.fromNameAndType(
                                        STORE, QueryableStoreTypes.<String, String>keyValueStore()))
                                .get("key")));
    }

    private static void deleteManifest(Path task) throws IOException {
        try (Stream<Path> files = Files.walk(task)) {
            List<Path> manifests = files.filter(
                            file -> file.getFileName().toString().startsWith("MANIFEST"))
                    .toList();
            assertThat(manifests).isNotEmpty();
            for (Path manifest : manifests) {
                Files.delete(manifest);
            }
        }
    }

    private static final class Keep extends ContextualProcessor<String, String, Void, Void> {

        private final String name;

        Keep(String name) {
            this.name = name;
        }

        @Override
        public void process(Record<String, String> record) {
            KeyValueStore<String, String> store = context().getStateStore(name);
            store.put(record.key(), record.value());
        }
    }
}
