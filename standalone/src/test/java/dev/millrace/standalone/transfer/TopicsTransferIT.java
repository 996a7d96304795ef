package dev.millrace.standalone.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.DiscardedLetter;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Forgotten;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.GZIPOutputStream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of the topics of an installation, at one broker under another prefix. */
@RequiresBroker
class TopicsTransferIT {

    private static final int PARTITIONS = 2;

    @TempDir
    Path folder;

    private final TestBroker broker;
    private final ClientSettings kafka;
    private Topics from = new Topics("");
    private Topics to = new Topics("");

    TopicsTransferIT(TestBroker broker) {
        this.broker = broker;
        this.kafka = ClientSettings.at(broker.bootstrapServers());
    }

    @BeforeEach
    void make() {
        from = broker.createTopics(PARTITIONS);
        to = new Topics("to-" + from.prefix());
    }

    @Test
    @DisplayName(
            "the journal keeps its dates and their order, over fewer partitions; its new topic is dated by the brokers")
    void shouldKeepDatesAndOrder() throws Exception {
        for (int i = 0; i < 10; i++) {
            produce(from.journal(), i % PARTITIONS, notice("task-" + i, "entry " + i));
        }
        produce(from.journal(), 1, forgetRequest("done-before"));
        List<String> before = read(from.journal(), 11).stream()
                .map(TopicsTransferIT::described)
                .filter(entry -> !entry.contains("done-before"))
                .sorted(Comparator.comparing(entry -> entry.substring(entry.indexOf("entry "))))
                .toList();

        move(1);

        List<ConsumerRecord<String, byte[]>> after = read(to.journal(), 10);
        assertThat(after).extracting(ConsumerRecord::timestamp).isSorted();
        assertThat(after).extracting(TopicsTransferIT::described).containsExactlyElementsOf(before);
        try (StoppedInstallation target = new StoppedInstallation(kafka, to)) {
            assertThat(target.config(to.journal())).containsEntry("message.timestamp.type", "LogAppendTime");
        }
    }

    @Test
    @DisplayName("with as many partitions, what holds for a partition stays on it")
    void shouldKeepPartitions() throws Exception {
        produce(from.journal(), 1, forgetRequest("on-one"));
        produce(from.lanes().getFirst(), 1, notice("foreign", "put there by a partitioner of somebody's own"));

        move(0);

        assertThat(read(to.journal(), 1)).extracting(ConsumerRecord::partition).containsExactly(1);
        assertThat(read(to.lanes().getFirst(), 1))
                .extracting(ConsumerRecord::partition)
                .containsExactly(1);
    }

    @Test
    @DisplayName("topics that are there already, and empty, are filled; records keep their dates there as well")
    void shouldFillTopicsThatAreThere() throws Exception {
        broker.produce(from.journal(), notice("any", "entry"));
        long date = read(from.journal(), 1).getFirst().timestamp();
        Path archive = export();
        to = broker.createTopics(3);

        assertThatThrownBy(() -> new Importer(kafka, to, (topic, records) -> {}).run(archive, 0, -1))
                .isInstanceOf(TransferException.class)
                .hasMessageContaining("expected 2 partitions, found 3");
        new Importer(kafka, to, (topic, records) -> {}).run(archive, 3, -1);

        assertThat(read(to.journal(), 1).getFirst().timestamp()).isEqualTo(date);
        try (StoppedInstallation target = new StoppedInstallation(kafka, to)) {
            assertThat(target.config(to.journal())).containsEntry("message.timestamp.type", "LogAppendTime");
        }
    }

    @Test
    @DisplayName("an installation whose prefix begins in the same way is another one")
    void shouldNotMeetNeighbours() throws Exception {
        Topics neighbour = new Topics(from.prefix() + "other.");
        broker.admin()
                .createTopics(List.of(
                        new NewTopic(neighbour.journal(), 1, (short) 1),
                        new NewTopic(to.prefix() + "other.journal", 1, (short) 1)))
                .all()
                .get();
        broker.produce(to.prefix() + "other.journal", notice("theirs", "not ours"));

        move(0);

        assertThat(broker.admin().listTopics().names().get())
                .contains(to.journal())
                .doesNotContain(to.prefix() + "other.requests.tool");
    }

    @Test
    @DisplayName("what is no such file, and one of a later version, is refused with what was found")
    void shouldRefuseOtherFiles() throws Exception {
        Path text = Files.writeString(folder.resolve("notes.txt"), "nothing of the kind");
        Path later = folder.resolve("later.gz");
        try (Writer out =
                new OutputStreamWriter(new GZIPOutputStream(Files.newOutputStream(later)), StandardCharsets.UTF_8)) {
            out.write("{\"millraceExport\":2,\"version\":\"9.9\",\"prefix\":\"m.\",\"partitions\":1}\n");
        }

        assertThatThrownBy(() -> new Importer(kafka, to, (topic, records) -> {}).run(text, 0, -1))
                .isInstanceOf(TransferException.class)
                .hasMessage(text + ": expected a file that millrace export has written, found another one");
        assertThatThrownBy(() -> new Importer(kafka, to, (topic, records) -> {}).run(later, 0, -1))
                .isInstanceOf(TransferException.class)
                .hasMessage(later + ": expected format 1 or older, found 2, written by Millrace 9.9");
    }

    @Test
    @DisplayName("large results stay at their places, also where those before them are gone")
    void shouldKeepPlaces() throws Exception {
        for (int i = 0; i < 6; i++) {
            broker.produceRaw(from.content(), "call", Map.of(), ("piece " + i).getBytes(StandardCharsets.UTF_8));
        }
        TopicPartition content = new TopicPartition(from.content(), 0);
        broker.admin()
                .deleteRecords(Map.of(content, RecordsToDelete.beforeOffset(3)))
                .all()
                .get();

        move(5);

        assertThat(read(to.content(), 3))
                .extracting(found -> found.offset() + " " + new String(found.value(), StandardCharsets.UTF_8))
                .containsExactly("3 piece 3", "4 piece 4", "5 piece 5");
    }

    @Test
    @DisplayName("of calls those go along that no worker has done and nobody has answered; whoever forges an answer"
            + " keeps none back")
    void shouldTakeOpenCallsAlong() throws Exception {
        for (String call : List.of("acknowledged", "in-the-journal", "on-the-lane", "forged", "open")) {
            broker.produce(from.requests(Topics.BUILT_IN_TOOLSET), call(call));
        }
        broker.admin()
                .alterShareGroupOffsets(
                        from.shareGroup(Topics.BUILT_IN_TOOLSET),
                        Map.of(new TopicPartition(from.requests(Topics.BUILT_IN_TOOLSET), 0), 1L))
                .all()
                .get();
        broker.produce(from.journal(), answer("in-the-journal", null));
        broker.produce(from.lanes().getFirst(), answer("on-the-lane", "token-on-the-lane"));
        broker.produce(from.lanes().getFirst(), answer("forged", "a guess"));

        move(3);

        assertThat(read(to.requests(Topics.BUILT_IN_TOOLSET), 2))
                .extracting(TopicsTransferIT::callId)
                .containsExactly("forged", "open");
        assertThat(read(to.lanes().getFirst(), 2)).hasSize(2);
    }

    @Test
    @DisplayName("what was forgotten or discarded does not go along")
    void shouldLeaveBehindWhatIsForgotten() throws Exception {
        broker.produce(from.journal(), notice("kept", "is kept"));
        broker.produce(from.journal(), notice("gone", "was a secret"));
        broker.produceRaw(
                from.forgotten(),
                "default",
                Map.of(),
                new Forgotten(new ForgetScope(ForgetScope.Kind.TASK, "default", "gone"), System.currentTimeMillis())
                        .toJson());
        for (String letter : List.of("discarded", "waits")) {
            broker.produceRaw(
                    from.deadLetters(),
                    letter,
                    Map.of(DeadLetters.ORIGIN_TOPIC, from.lanes().getFirst()),
                    letter.getBytes(StandardCharsets.UTF_8));
        }
        broker.produceRaw(
                from.forgotten(),
                "0:0",
                Map.of(),
                new DiscardedLetter("0:0", System.currentTimeMillis() + 60_000).toJson());

        Path archive = move(PARTITIONS);

        assertThat(read(to.journal(), 1)).extracting(ConsumerRecord::key).containsExactly("kept");
        assertThat(read(to.deadLetters(), 1)).extracting(ConsumerRecord::key).containsExactly("waits");
        assertThat(read(to.forgotten(), 1)).extracting(ConsumerRecord::key).containsExactly("default");
        assertThat(archive).exists();
    }

    @Test
    @DisplayName("who writes meanwhile is noticed, and there is no file then")
    void shouldNoticeWhoWrites() throws Exception {
        broker.produce(from.journal(), notice("early", "early enough"));
        AtomicBoolean written = new AtomicBoolean();
        Path archive = folder.resolve("never.gz");

        assertThatThrownBy(() -> new Exporter(kafka, from, "test", (topic, records) -> {
                            if (topic.equals("journal") && written.compareAndSet(false, true)) {
                                broker.produce(from, notice("late", "too late"));
                            }
                        })
                        .export(archive))
                .isInstanceOf(TransferException.class)
                .hasMessageContaining(
                        "expected nobody to write to the topics meanwhile, found " + from.prefix() + "events.")
                .hasMessageContaining("to have grown since it was read");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    @DisplayName("what every partition was told cannot be told to others; to as many it can")
    void shouldRefuseUnreadBroadcasts() throws Exception {
        Event drain = Event.root(Ids.random(), KnownEventType.SYSTEM_SHUTTING_DOWN, Instant.now())
                .source("test")
                .payload(Map.of("reason", "test"))
                .build();
        ProducerRecord<String, byte[]> copy = EventCodec.toRecord(from.lanes().getFirst(), drain);
        ProducerRecord<byte[], byte[]> told =
                new ProducerRecord<>(copy.topic(), 1, null, bytes(copy.key()), copy.value(), copy.headers());
        told.headers().add("broadcast", bytes("1"));
        broker.produce(told);
        Path archive = export();

        assertThatThrownBy(() -> new Importer(kafka, to, (topic, records) -> {}).run(archive, 3, -1))
                .isInstanceOf(TransferException.class)
                .hasMessageContaining("found 1, where partitions are to be others")
                .hasMessageContaining("--partitions 2");
        assertThat(broker.admin().listTopics().names().get()).noneMatch(name -> name.startsWith(to.prefix()));
        new Importer(kafka, to, (topic, records) -> {}).run(archive, PARTITIONS, -1);
        assertThat(read(to.lanes().getFirst(), 1))
                .extracting(ConsumerRecord::partition)
                .containsExactly(1);
    }

    private Path move(int partitions) throws Exception {
        Path archive = export();
        new Importer(kafka, to, (topic, records) -> {}).run(archive, partitions, -1);
        return archive;
    }

    private Path export() throws Exception {
        Path archive = folder.resolve("all.gz");
        new Exporter(kafka, from, "test", (topic, records) -> {}).export(archive);
        return archive;
    }

    private void produce(String topic, int partition, Event event) {
        ProducerRecord<String, byte[]> record = EventCodec.toRecord(topic, event);
        broker.produce(
                new ProducerRecord<>(topic, partition, null, bytes(record.key()), record.value(), record.headers()));
    }

    private List<ConsumerRecord<String, byte[]>> read(String topic, int count) {
        List<ConsumerRecord<String, byte[]>> found = new ArrayList<>();
        try (TopicReader reader = broker.read(topic)) {
            found.addAll(reader.untilCount(count, TestBroker.LIMIT));
        }
        assertThat(found).hasSize(count);
        return found;
    }

    private static Event notice(String taskId, String text) {
        return of(KnownEventType.TASK_NOTIFY, taskId, Map.of("message", text)).build();
    }

    private static Event forgetRequest(String id) {
        return Event.root(id, KnownEventType.FORGET_REQUESTED, Instant.now())
                .source("test")
                .payload(Map.of("scope", "task", "taskId", "other"))
                .build();
    }

    private static Event call(String callId) {
        return of(
                        KnownEventType.TOOL_CALL_REQUESTED,
                        "task",
                        Map.of("callId", callId, "toolCallId", "c", "toolName", "read_file", "params", Map.of()))
                .extension("replytoken", "token-" + callId)
                .build();
    }

    private static Event answer(String callId, @Nullable String token) {
        Event.Builder answer = of(
                KnownEventType.TOOL_CALL_COMPLETED,
                "task",
                Map.of("callId", callId, "toolName", "read_file", "result", "text", "durationMs", 1));
        return (token == null ? answer : answer.extension("replytoken", token)).build();
    }

    private static Event.Builder of(EventType type, String taskId, Map<String, Object> payload) {
        return Event.root(Ids.random(), type, Instant.now())
                .source("test")
                .taskId(taskId)
                .payload(payload);
    }

    private static String callId(ConsumerRecord<String, byte[]> found) {
        try {
            Event event = EventCodec.fromRecord(found.headers(), found.value(), Instant.now());
            return event.payload() instanceof Payload.ToolCallRequested call ? call.callId() : "";
        } catch (MalformedEventException e) {
            throw new AssertionError(e);
        }
    }

    /** Everything about a record but where it is. */
    private static String described(ConsumerRecord<String, byte[]> found) {
        return found.timestamp() + " " + found.key() + " " + found.headers() + " "
                + new String(found.value(), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
