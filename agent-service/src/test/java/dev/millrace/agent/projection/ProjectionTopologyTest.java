package dev.millrace.agent.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.api.Approval;
import dev.millrace.api.Task;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProjectionTopologyTest {
    private static final Topics TOPICS = new Topics("test.");
    private static final Duration RETENTION = Duration.ofDays(30);
    private static final Instant NOW = Instant.parse("2026-02-01T00:00:00Z");

    private final AppliedOffsets applied = new AppliedOffsets();
    private TopologyTestDriver driver;
    private TestInputTopic<byte[], byte[]> journal;

    @BeforeEach
    void openDriver(@TempDir Path stateDir) {
        Properties config = new Properties();
        config.putAll(Map.of(
                "application.id", "projection-test", "bootstrap.servers", "none:9", "state.dir", stateDir.toString()));
        driver = new TopologyTestDriver(ProjectionTopology.build(TOPICS, applied, RETENTION), config, NOW);
        journal = driver.createInputTopic(TOPICS.journal(), new ByteArraySerializer(), new ByteArraySerializer());
    }

    @AfterEach
    void closeDriver() {
        driver.close();
    }

    @Test
    @DisplayName("F-260: what a task is can be asked for")
    void shouldAnswerWhatATaskIs() {
        // given
        write(Histories.startedBy("m1").created().answered().events());

        // when
        Task view = reader().details("default", "m1").orElseThrow().task();

        // then
        assertThat(view.state()).isEqualTo("completed");
        assertThat(view.response()).isEqualTo("Noon.");
        assertThat(reader().details("default", "m2")).isEmpty();
        assertThat(reader().details("acme", "m1")).isEmpty();
    }

    @Test
    void shouldPageThroughTheEventsOfATaskInOrder() {
        // given
        List<Event> mine = Histories.startedBy("m1").created().answered().events();
        List<Event> other = Histories.startedBy("m10").created().answered().events();
        IntStream.range(0, mine.size()).forEach(i -> write(List.of(mine.get(i), other.get(i))));

        // when
        List<String> ids = new ArrayList<>();
        EventPage page = reader().events("default", "m1", null, 3, ProjectionReader.MAX_PAGE_BYTES)
                .orElseThrow();
        while (page.next() != null) {
            assertThat(page.events()).hasSize(3);
            assertThat(page.upTo()).isNull();
            page.events().forEach(entry -> ids.add(entry.event().id()));
            page = reader().events("default", "m1", page.next(), 3, ProjectionReader.MAX_PAGE_BYTES)
                    .orElseThrow();
        }
        page.events().forEach(entry -> ids.add(entry.event().id()));

        // then
        assertThat(ids).containsExactlyElementsOf(mine.stream().map(Event::id).toList());
        assertThat(page.upTo()).isEqualTo(new JournalCursor(0, 2L * mine.size() - 1));
    }

    @Test
    void shouldEndAPageOfTasksBeforeItIsTooLarge() {
        // given
        for (int i = 0; i < 6; i++) {
            List<Event> events = new ArrayList<>(
                    Histories.startedBy("m" + i).created().answered().events());
            Event last = events.removeLast();
            events.add(last.toBuilder()
                    .payload(Histories.whole(
                            KnownEventType.TASK_COMPLETED, Map.of("result", Map.of("response", "x".repeat(300_000)))))
                    .build());
            write(events);
        }

        // when
        List<String> ids = new ArrayList<>();
        int pages = 0;
        String next = null;
        do {
            Task.Page page = reader().tasks(new TaskQuery("default", null, null, null, 200, next));
            assertThat(page.tasks().stream()
                            .mapToLong(task -> String.valueOf(task.response()).length())
                            .sum())
                    .isLessThan(ProjectionReader.MAX_PAGE_BYTES + 300_000);
            page.tasks().forEach(task -> ids.add(task.taskId()));
            next = page.next();
            pages++;
        } while (next != null);

        // then
        assertThat(ids).containsExactlyInAnyOrder("m0", "m1", "m2", "m3", "m4", "m5");
        assertThat(pages).isEqualTo(2);
    }

    @Test
    void shouldEndAPageOfEventsAtTheSizeThatIsAskedFor() {
        // given
        List<Event> mine = Histories.startedBy("m1").created().answered().events();
        write(mine);

        // when
        EventPage page = reader().events("default", "m1", null, 100, 1).orElseThrow();

        // then
        assertThat(page.events()).hasSize(1);
        assertThat(page.next()).isEqualTo(page.events().getFirst().cursor());
    }

    @Test
    void shouldWalkALongChainInPages() {
        // given
        List<Event> history = Histories.startedBy("m1").created().answered().events();
        write(history);

        // when
        List<Event> all = new ArrayList<>();
        String next = history.getLast().id();
        while (next != null) {
            ChainPage page = reader().chain("default", next, 2).orElseThrow();
            assertThat(page.chain()).hasSizeLessThanOrEqualTo(2);
            all.addAll(0, page.chain().stream().map(JournalEntry::event).toList());
            next = page.next();
        }

        // then
        assertThat(all).containsExactlyElementsOf(history);
    }

    @Test
    @DisplayName("F-016, F-262, F-288: from any event back to what came from outside")
    void shouldWalkTheChainBackToTheRoot() {
        // given
        List<Event> history = Histories.startedBy("m1").created().answered().events();
        write(history);

        // when
        List<JournalEntry> chain = reader().chain("default", history.getLast().id(), 500)
                .orElseThrow()
                .chain();

        // then
        assertThat(chain).extracting(JournalEntry::event).containsExactlyElementsOf(history);
        assertThat(reader().chain("default", "nobody", 500)).isEmpty();
    }

    @Test
    void shouldListTasksNewestFirstPageByPage() {
        // given
        for (int i = 0; i < 7; i++) {
            write(Histories.startedBy("m" + i, NOW.plusSeconds(i), null, "default")
                    .created()
                    .events());
        }
        write(Histories.startedBy("else", NOW.plusSeconds(3), null, "acme")
                .created()
                .events());

        // when
        Task.Page first = reader().tasks(new TaskQuery("default", null, null, null, 3, null));
        Task.Page second = reader().tasks(new TaskQuery("default", null, null, null, 3, first.next()));
        Task.Page third = reader().tasks(new TaskQuery("default", null, null, null, 3, second.next()));

        // then
        assertThat(first.tasks()).extracting(Task::taskId).containsExactly("m6", "m5", "m4");
        assertThat(second.tasks()).extracting(Task::taskId).containsExactly("m3", "m2", "m1");
        assertThat(third.tasks()).extracting(Task::taskId).containsExactly("m0");
        assertThat(third.next()).isNull();
    }

    @Test
    void shouldEndTheLastFullPageWithoutANext() {
        // given
        write(Histories.startedBy("m1").created().events());

        // when
        Task.Page page = reader().tasks(new TaskQuery("default", null, null, null, 1, null));

        // then
        assertThat(page.tasks()).hasSize(1);
        assertThat(page.next()).isNull();
    }

    @Test
    void shouldFilterByStateAndBySession() {
        // given
        write(Histories.startedBy("m1", NOW, "s1", "default")
                .created()
                .answered()
                .events());
        write(Histories.startedBy("m2", NOW.plusSeconds(1), "s1", "default")
                .created()
                .events());
        write(Histories.startedBy("m3", NOW.plusSeconds(2), "s2", "default")
                .created()
                .events());

        // when
        Task.Page reasoning = reader().tasks(new TaskQuery("default", "reasoning", null, null, 10, null));
        Task.Page ofSession = reader().tasks(new TaskQuery("default", null, "s1", null, 10, null));
        Task.Page both = reader().tasks(new TaskQuery("default", "completed", "s1", null, 10, null));
        Task.Page none = reader().tasks(new TaskQuery("default", "failed", null, null, 10, null));

        // then
        assertThat(reasoning.tasks()).extracting(Task::taskId).containsExactly("m3", "m2");
        assertThat(ofSession.tasks()).extracting(Task::taskId).containsExactly("m2", "m1");
        assertThat(both.tasks()).extracting(Task::taskId).containsExactly("m1");
        assertThat(none.tasks()).isEmpty();
    }

    @Test
    void shouldFilterByTraitsAndCountWhatIsLeft() {
        // given
        write(Histories.startedBy("m1", NOW, "s1", "default")
                .created()
                .answered()
                .events());
        write(Histories.startedBy("m2", NOW.plusSeconds(10), "s1", "default")
                .created()
                .events());
        write(Histories.startedBy("m3", NOW.plusSeconds(20), "s2", "default")
                .created()
                .then(KnownEventType.TASK_FAILED, Map.of("error", "no more", "code", "iteration_limit"))
                .events());

        // then
        assertThat(withTraits(new TaskTraits("explore", null, null, null, null, null, null)))
                .containsExactly("m3", "m2", "m1");
        assertThat(withTraits(new TaskTraits("general", null, null, null, null, null, null)))
                .isEmpty();
        assertThat(withTraits(new TaskTraits(null, "iteration_limit", null, null, null, null, null)))
                .containsExactly("m3");
        assertThat(withTraits(new TaskTraits(null, null, "NOON", null, null, null, null)))
                .containsExactly("m1");
        assertThat(withTraits(new TaskTraits(null, null, "no more", null, null, null, null)))
                .containsExactly("m3");
        assertThat(withTraits(new TaskTraits(null, null, null, "m1", null, null, null)))
                .isEmpty();
        long tenSeconds = NOW.plusSeconds(10).toEpochMilli();
        assertThat(withTraits(new TaskTraits(null, null, null, null, null, tenSeconds, null)))
                .containsExactly("m3", "m2");
        assertThat(withTraits(new TaskTraits(null, null, null, null, null, null, tenSeconds)))
                .containsExactly("m1");
        assertThat(reader().counts(new TaskQuery("default", null, null, null, 1, null)))
                .isEqualTo(new Task.Counts(Map.of("completed", 1, "reasoning", 1, "failed", 1), true));
        assertThat(reader().counts(new TaskQuery("default", null, "s1", null, 1, null)))
                .isEqualTo(new Task.Counts(Map.of("completed", 1, "reasoning", 1), true));
    }

    private List<String> withTraits(TaskTraits traits) {
        return reader().tasks(new TaskQuery("default", null, null, null, 10, null, traits)).tasks().stream()
                .map(Task::taskId)
                .toList();
    }

    @Test
    void shouldFilterByWhatTasksWaitFor() {
        // given
        write(Histories.startedBy("m1", NOW, "s1", "default").events());
        write(Histories.startedBy("m2", NOW.plusSeconds(1), "s1", "default")
                .created()
                .events());
        write(Histories.startedBy("m3", NOW.plusSeconds(2), "s2", "default").events());
        write(Histories.startedBy("m4", NOW.plusSeconds(3), "s2", "default")
                .created()
                .answered()
                .events());

        // when
        Task.Page waiting = reader().tasks(new TaskQuery("default", null, null, "admission", 10, null));
        Task.Page ofSession = reader().tasks(new TaskQuery("default", "idle", "s1", "admission", 10, null));
        Task.Page model = reader().tasks(new TaskQuery("default", null, null, "model", 10, null));

        // then
        assertThat(waiting.tasks()).extracting(Task::taskId).containsExactly("m3", "m1");
        assertThat(ofSession.tasks()).extracting(Task::taskId).containsExactly("m1");
        assertThat(model.tasks()).extracting(Task::taskId).containsExactly("m2");
    }

    @Test
    @DisplayName("F-138: every transition, page by page, and the last ones with the task")
    void shouldTellHowATaskMoved() {
        // given
        Histories history = Histories.startedBy("m1").created();
        for (int i = 0; i < Task.Details.MAX_HISTORY; i++) {
            history.then(
                    KnownEventType.TASK_STATE_CHANGED,
                    Map.of(
                            "fromState",
                            i % 2 == 0 ? "reasoning" : "acting",
                            "toState",
                            i % 2 == 0 ? "acting" : "reasoning",
                            "triggerEventType",
                            "REASON_DONE",
                            "triggerEventId",
                            "e" + i));
        }
        write(history.events());
        int all = Task.Details.MAX_HISTORY + 1;

        // when
        Task.Details details = reader().details("default", "m1").orElseThrow();
        List<Task.Move> paged = new ArrayList<>();
        Task.MovePage page = reader().history("default", "m1", null, 7).orElseThrow();
        while (page.next() != null) {
            paged.addAll(page.history());
            page = reader().history(
                            "default", "m1", JournalCursor.parse(page.next()).orElseThrow(), 7)
                    .orElseThrow();
        }
        paged.addAll(page.history());

        // then
        assertThat(details.task().transitions()).isEqualTo(all);
        assertThat(paged).hasSize(all);
        assertThat(paged.getFirst()).returns("idle", Task.Move::fromState).returns("reasoning", Task.Move::toState);
        assertThat(paged.getLast())
                .returns("REASON_DONE", Task.Move::triggerEventType)
                .returns("e" + (Task.Details.MAX_HISTORY - 1), Task.Move::triggerEventId)
                .returns(history.events().getLast().timestamp().toEpochMilli(), Task.Move::timestamp);
        assertThat(details.history()).isEqualTo(paged.subList(1, all));
        assertThat(reader().history("default", "nobody", null, 7)).isEmpty();
    }

    @Test
    void shouldListOpenApprovalsUntilTheyAreDecided() {
        // given
        Histories first = Histories.startedBy("m1", NOW, "s1", "default")
                .created()
                .moved("reasoning", "suspended")
                .then(KnownEventType.APPROVAL_REQUESTED, approval("m1/1/0", "http_get"))
                .then(KnownEventType.APPROVAL_REQUESTED, approval("m1/1/1", "write_file"));
        Histories second = Histories.startedBy("m2", NOW.plusSeconds(9), null, "default")
                .created()
                .moved("reasoning", "suspended")
                .then(KnownEventType.APPROVAL_REQUESTED, approval("m2/1/0", "http_get"));
        write(second.events());
        write(first.events());

        // when
        Approval.Page one = reader().approvals(approvals(null, null, null, 1, null));
        Approval.Page two = reader().approvals(approvals(null, null, null, 1, one.next()));
        Approval.Page three = reader().approvals(approvals(null, null, null, 1, two.next()));

        // then
        assertThat(callIds(one)).containsExactly("m1/1/0");
        assertThat(callIds(two)).containsExactly("m1/1/1");
        assertThat(callIds(three)).containsExactly("m2/1/0");
        assertThat(three.next()).isNull();
        assertThat(callIds(reader().approvals(approvals("m2", null, null, 9, null))))
                .containsExactly("m2/1/0");
        assertThat(callIds(reader().approvals(approvals(null, "s1", "write_file", 9, null))))
                .containsExactly("m1/1/1");
        assertThat(one.approvals().getFirst())
                .returns("m1", Approval::taskId)
                .returns("s1", Approval::sessionId)
                .returns("http_get", Approval::toolName)
                .returns(Map.of("url", "https://example.org"), Approval::params);

        // and when
        write(List.of(first.then(
                        KnownEventType.APPROVAL_DECIDED,
                        Map.of("callId", "m1/1/0", "decision", "reject", "decidedBy", "ada", "reason", "no"))
                .events()
                .getLast()));
        write(List.of(
                second.then(KnownEventType.TASK_CANCELLED, Map.of()).events().getLast()));

        // then
        assertThat(callIds(reader().approvals(approvals(null, null, null, 9, null))))
                .containsExactly("m1/1/1");
        assertThat(reader().approval("default", "m1/1/0").orElseThrow())
                .returns(false, Approval.Details::open)
                .returns("suspended", Approval.Details::taskState)
                .extracting(Approval.Details::decided)
                .isEqualTo(new Approval.Decided(
                        "reject",
                        "ada",
                        "no",
                        first.events().getLast().timestamp().toEpochMilli()));
        assertThat(reader().approval("default", "m1/1/1").orElseThrow())
                .returns(true, Approval.Details::open)
                .returns(null, Approval.Details::decided);
        assertThat(reader().approval("default", "m2/1/0").orElseThrow())
                .returns(false, Approval.Details::open)
                .returns("cancelled", Approval.Details::taskState);
        assertThat(reader().approval("default", "m3/1/0")).isEmpty();
        assertThat(reader().approval("acme", "m1/1/0")).isEmpty();
    }

    @Test
    void shouldRefuseACursorThatNoPageGave() {
        assertThatThrownBy(() -> reader().tasks(new TaskQuery("default", null, null, null, 1, "?%")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldGoOnAfterARecordThatIsNoEvent() {
        // given
        byte[] garbage = "not JSON".getBytes(StandardCharsets.UTF_8);
        journal.pipeInput(new TestRecord<>(garbage, garbage));
        journal.pipeInput(new TestRecord<>(garbage, (byte @Nullable []) null));

        // when
        write(Histories.startedBy("m1").created().events());

        // then
        assertThat(reader().details("default", "m1")).isPresent();
        assertThat(applied.malformedCount()).isEqualTo(2);
        assertThat(ProjectionReader.position(driver.getKeyValueStore(ProjectionTopology.STORE), 0))
                .hasValue(new JournalCursor(0, applied.appliedCount() - 1));
    }

    @Test
    void shouldKeepEventsThatBelongToNoTaskForTheChain() {
        // given
        Event stray = Event.root("e1", EventType.of("file.changed"), NOW).build();

        // when
        write(List.of(stray));

        // then
        assertThat(reader().chain("default", "e1", 500))
                .hasValueSatisfying(page ->
                        assertThat(page.chain()).extracting(JournalEntry::event).containsExactly(stray));
        assertThat(reader().details("default", "e1")).isEmpty();
        assertThat(reader().events("default", "e1", null, 10, ProjectionReader.MAX_PAGE_BYTES))
                .isEmpty();
        assertThat(reader().tasks(new TaskQuery("default", null, null, null, 10, null))
                        .tasks())
                .isEmpty();
    }

    @Test
    void shouldRemoveTasksAfterTheRetentionAndKeepThoseThatWereTouched() {
        // given
        List<Event> old = Histories.startedBy("old", NOW, "s1", "default")
                .created()
                .answered()
                .moved("completed", "suspended")
                .then(KnownEventType.APPROVAL_REQUESTED, approval("old/1/0", "http_get"))
                .events();
        Histories touched = Histories.startedBy("touched", NOW, null, "default").created();
        write(old);
        write(touched.events());
        driver.advanceWallClockTime(Duration.ofDays(20));
        write(List.of(touched.moved("reasoning", "acting").events().getLast()));
        driver.advanceWallClockTime(RETENTION.minusDays(20).plusHours(1));

        // when
        write(Histories.startedBy("new").created().events());

        // then
        assertThat(reader().details("default", "old")).isEmpty();
        assertThat(reader().chain("default", old.getLast().id(), 500)).isEmpty();
        assertThat(reader().approvals(approvals(null, null, null, 9, null)).approvals())
                .isEmpty();
        assertThat(reader().approval("default", "old/1/0")).isEmpty();
        assertThat(keysOf("old")).isEmpty();
        assertThat(reader().tasks(new TaskQuery("default", null, "s1", null, 10, null))
                        .tasks())
                .isEmpty();
        assertThat(reader().tasks(new TaskQuery("default", null, null, null, 10, null))
                        .tasks())
                .extracting(Task::taskId)
                .containsExactlyInAnyOrder("touched", "new");

        // and when
        driver.advanceWallClockTime(RETENTION.plusSeconds(1));
        write(Histories.startedBy("newer").created().events());

        // then
        assertThat(reader().details("default", "touched")).isEmpty();
        assertThat(reader().details("default", "newer")).isPresent();
    }

    @Test
    void shouldKeepATaskUntilTheRetentionIsOver() {
        // given
        write(Histories.startedBy("old").created().events());
        driver.advanceWallClockTime(RETENTION.minusMillis(1));

        // when
        write(Histories.startedBy("new").created().events());

        // then
        assertThat(reader().details("default", "old")).isPresent();
    }

    private static Map<String, ?> approval(String callId, String toolName) {
        return Map.of(
                "callId",
                callId,
                "toolCallId",
                "call_1",
                "toolName",
                toolName,
                "params",
                Map.of("url", "https://example.org"));
    }

    private static ApprovalQuery approvals(
            @Nullable String taskId,
            @Nullable String sessionId,
            @Nullable String toolName,
            int limit,
            @Nullable String after) {
        return new ApprovalQuery("default", taskId, sessionId, toolName, limit, after);
    }

    private static List<String> callIds(Approval.Page page) {
        return page.approvals().stream().map(Approval::callId).toList();
    }

    /** All keys of the store that have something to do with a task. */
    private List<String> keysOf(String taskId) {
        List<String> keys = new ArrayList<>();
        KeyValueStore<Bytes, byte[]> store = driver.getKeyValueStore(ProjectionTopology.STORE);
        try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
            all.forEachRemaining(row -> keys.add(new String(row.key.get(), StandardCharsets.ISO_8859_1)));
        }
        return keys.stream().filter(key -> key.contains(taskId)).toList();
    }

    private void write(List<Event> events) {
        for (Event event : events) {
            ProducerRecord<String, byte[]> produced = EventCodec.toRecord(TOPICS.journal(), event);
            journal.pipeInput(new TestRecord<>(
                    produced.key().getBytes(StandardCharsets.UTF_8),
                    produced.value(),
                    produced.headers(),
                    event.timestamp()));
        }
    }

    private ProjectionReader reader() {
        return new ProjectionReader(driver.getKeyValueStore(ProjectionTopology.STORE));
    }
}
