package dev.millrace.agent.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.api.Task;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

@RequiresBroker
class TaskProjectionIT {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final TaskQuery ALL = new TaskQuery("default", null, null, null, 100, null);

    // the store is closed before the folder is removed, but Kafka Streams may still be at work in it
    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    private Path stateDir = Path.of("");

    @Test
    void shouldTellWhatTheJournalTellsAsSoonAsThePlaceIsReached(TestBroker broker) throws InterruptedException {
        // given
        Topics topics = broker.createTopics();
        List<Event> history = Histories.startedBy("m1").created().answered().events();
        try (TaskProjection projection = started(broker, topics)) {

            // when
            JournalCursor last = write(broker, topics, history);

            // then
            assertThat(projection.await(last, LIMIT)).isTrue();
            assertThat(projection.task("default", "m1").orElseThrow().task().response())
                    .isEqualTo("Noon.");
            assertThat(projection.events("default", "m1", null, 100).orElseThrow())
                    .satisfies(page -> assertThat(page.events())
                            .extracting(JournalEntry::event)
                            .containsExactlyElementsOf(history))
                    .satisfies(page -> assertThat(page.upTo()).isEqualTo(last));
            assertThat(projection.await(new JournalCursor(last.partition(), last.offset() + 1), Duration.ofMillis(50)))
                    .isFalse();
        }
    }

    @Test
    void shouldGoOnWhereItWasAfterARestart(TestBroker broker) throws InterruptedException {
        // given
        Topics topics = broker.createTopics();
        writeTasks(broker, topics, 20);
        List<Task> before;
        try (TaskProjection projection = started(broker, topics)) {
            before = projection.tasks(ALL).tasks();
            assertThat(projection.appliedRecords()).isGreaterThan(20);
        }

        // when
        try (TaskProjection projection = started(broker, topics)) {

            // then
            assertThat(before).hasSize(20);
            assertThat(projection.appliedRecords()).isZero();
            assertThat(projection.tasks(ALL).tasks()).isEqualTo(before);
            JournalCursor last =
                    write(broker, topics, Histories.startedBy("later").created().events());
            assertThat(projection.await(last, LIMIT)).isTrue();
            assertThat(projection.task("default", "later")).isPresent();
        }
    }

    @Test
    void shouldBuildTheSameAgainThroughTheProcessorWhenTheFolderIsGone(TestBroker broker) {
        // given
        Topics topics = broker.createTopics();
        writeTasks(broker, topics, 20);
        List<Task> before;
        EventPage eventsBefore;
        long recordsBefore;
        try (TaskProjection projection = started(broker, topics)) {
            before = projection.tasks(ALL).tasks();
            eventsBefore = projection.events("default", "m7", null, 100).orElseThrow();
            recordsBefore = projection.appliedRecords();
        }

        // when
        delete(stateDir);
        try (TaskProjection projection = started(broker, topics)) {

            // then
            assertThat(projection.appliedRecords()).isEqualTo(recordsBefore);
            assertThat(projection.tasks(ALL).tasks()).isEqualTo(before);
            assertThat(projection.events("default", "m7", null, 100)).hasValue(eventsBefore);
            Optional<ChainPage> chain = projection.chain(
                    "default", eventsBefore.events().getLast().event().id(), 500);
            assertThat(chain).hasValue(new ChainPage(eventsBefore.events(), null));
        }
    }

    @Test
    void shouldBeginAnewWhenTheFolderIsOfAnotherJournal(TestBroker broker) throws Exception {
        // given: a folder of a journal that was deleted, with fewer records than the one of the same name has now
        Topics topics = broker.createTopics(1);
        write(broker, topics, Histories.startedBy("before").created().events());
        try (TaskProjection projection = started(broker, topics)) {
            assertThat(projection.task("default", "before")).isPresent();
        }
        broker.makeAgain(topics, topics.journal(), 1);
        writeTasks(broker, topics, 20);

        // when
        try (TaskProjection projection = started(broker, topics)) {

            // then
            assertThat(projection.tasks(ALL).tasks()).hasSize(20).allSatisfy(task -> {
                assertThat(task.taskId()).isNotEqualTo("before");
                assertThat(task.inputText()).isNotEmpty();
            });
            assertThat(projection.task("default", "before")).isEmpty();
        }
    }

    @Test
    void shouldBeginAnewWhenTheJournalIsMadeAgainUnderIt(TestBroker broker) throws InterruptedException {
        // given
        Topics topics = broker.createTopics(1);
        writeTasks(broker, topics, 3);
        try (TaskProjection projection = started(broker, topics)) {
            assertThat(projection.tasks(ALL).tasks()).hasSize(3);

            // when: as many records as there were
            broker.makeAgain(topics, topics.journal(), 1);
            IntStream.range(0, 3)
                    .forEach(i -> write(
                            broker,
                            topics,
                            Histories.startedBy("n" + i).created().answered().events()));

            // then
            await().atMost(LIMIT)
                    .ignoreException(ProjectionNotReadyException.class)
                    .untilAsserted(() -> assertThat(projection.tasks(ALL).tasks())
                            .extracting(Task::taskId)
                            .containsExactlyInAnyOrder("n0", "n1", "n2"));
            JournalCursor last =
                    write(broker, topics, Histories.startedBy("later").created().events());
            await().atMost(LIMIT).until(projection::ready);
            assertThat(projection.await(last, LIMIT)).isTrue();
            assertThat(projection.task("default", "m1")).isEmpty();
        }
    }

    @Test
    void shouldNotShowWhatWasAborted(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics();
        try (TaskProjection projection = started(broker, topics);
                KafkaProducer<String, byte[]> producer = new KafkaProducer<>(
                        Map.of("bootstrap.servers", broker.bootstrapServers(), "transactional.id", topics.prefix()),
                        new StringSerializer(),
                        new ByteArraySerializer())) {
            producer.initTransactions();

            // when
            producer.beginTransaction();
            for (Event event : Histories.startedBy("aborted").created().events()) {
                producer.send(EventCodec.toRecord(topics.journal(), event)).get();
            }
            producer.abortTransaction();
            producer.beginTransaction();
            Event other =
                    Histories.startedBy("aborted").created().answered().events().getLast();
            RecordMetadata committed =
                    producer.send(EventCodec.toRecord(topics.journal(), other)).get();
            producer.commitTransaction();

            // then
            assertThat(projection.await(new JournalCursor(committed.partition(), committed.offset()), LIMIT))
                    .isTrue();
            assertThat(projection
                            .events("default", "aborted", null, 100)
                            .orElseThrow()
                            .events())
                    .extracting(JournalEntry::event)
                    .containsExactly(other);
        }
    }

    @Test
    void shouldWaitForItsTopicAndSayThatItIsNotReady(TestBroker broker) {
        // given
        Topics topics = new Topics("late" + System.nanoTime() + ".");
        try (TaskProjection projection = projection(broker, topics)) {
            assertThatThrownBy(() -> projection.task("default", "m1")).isInstanceOf(ProjectionNotReadyException.class);
            projection.start();

            // when
            TopicSetup.ensure(broker.admin(), topics, new TopicSettings(2, TopicSettings.BROKER_DEFAULT, true), LIMIT);

            // then
            await().atMost(LIMIT).until(projection::ready);
            assertThat(projection.task("default", "m1")).isEmpty();
        }
    }

    @Test
    void shouldGoOnAfterGarbageInTheJournal(TestBroker broker) throws InterruptedException {
        // given
        Topics topics = broker.createTopics(1);
        byte[] garbage = {(byte) 0xff, 0, 1};
        broker.produceRaw(topics.journal(), "m1", Map.of("ce_type", "\u0000"), garbage);
        broker.produceRaw(topics.journal(), null, Map.of(), "{".getBytes(StandardCharsets.UTF_8));

        // when
        try (TaskProjection projection = started(broker, topics)) {
            JournalCursor last = write(
                    broker,
                    topics,
                    Histories.startedBy("m1")
                            .then(KnownEventType.TASK_CREATED, Map.of("inputText", "x"))
                            .events());

            // then
            assertThat(projection.await(last, LIMIT)).isTrue();
            assertThat(projection.task("default", "m1")).isPresent();
        }
    }

    private TaskProjection started(TestBroker broker, Topics topics) {
        TaskProjection projection = projection(broker, topics);
        projection.start();
        await().atMost(LIMIT).until(projection::ready);
        return projection;
    }

    private TaskProjection projection(TestBroker broker, Topics topics) {
        return new TaskProjection(ClientSettings.at(broker.bootstrapServers()), topics, stateDir, Duration.ofDays(30));
    }

    private static void writeTasks(TestBroker broker, Topics topics, int count) {
        IntStream.range(0, count)
                .forEach(i -> write(
                        broker,
                        topics,
                        Histories.startedBy(
                                        "m" + i,
                                        Histories.START.plusSeconds(i),
                                        i % 3 == 0 ? "s" + i % 2 : null,
                                        "default")
                                .created()
                                .answered()
                                .events()));
    }

    private static JournalCursor write(TestBroker broker, Topics topics, List<Event> history) {
        return history.stream()
                .map(event -> broker.produce(topics.journal(), event))
                .map(written -> new JournalCursor(written.partition(), written.offset()))
                .toList()
                .getLast();
    }

    private static void delete(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
