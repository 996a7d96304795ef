package dev.millrace.agent.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
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
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
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
    void shouldAnswerWhatATaskIs() {
        // given
        write(Histories.startedBy("m1").created().answered().events());

        // when
        TaskView view = reader().task("default", "m1").orElseThrow();

        // then
        assertThat(view.state()).isEqualTo("completed");
        assertThat(view.response()).isEqualTo("Noon.");
        assertThat(reader().task("default", "m2")).isEmpty();
        assertThat(reader().task("acme", "m1")).isEmpty();
    }

    @Test
    void shouldPageThroughTheEventsOfATaskInOrder() {
        // given
        List<Event> mine = Histories.startedBy("m1").created().answered().events();
        List<Event> other = Histories.startedBy("m10").created().answered().events();
        IntStream.range(0, mine.size()).forEach(i -> write(List.of(mine.get(i), other.get(i))));

        // when
        List<String> ids = new ArrayList<>();
        EventPage page = reader().events("default", "m1", null, 3).orElseThrow();
        while (page.next() != null) {
            assertThat(page.events()).hasSize(3);
            assertThat(page.upTo()).isNull();
            page.events().forEach(entry -> ids.add(entry.event().id()));
            page = reader().events("default", "m1", page.next(), 3).orElseThrow();
        }
        page.events().forEach(entry -> ids.add(entry.event().id()));

        // then
        assertThat(ids).containsExactlyElementsOf(mine.stream().map(Event::id).toList());
        assertThat(page.upTo()).isEqualTo(new JournalCursor(0, 2L * mine.size() - 1));
    }

    @Test
    @DisplayName("F-016: from any event back to what came from outside")
    void shouldWalkTheChainBackToTheRoot() {
        // given
        List<Event> history = Histories.startedBy("m1").created().answered().events();
        write(history);

        // when
        List<JournalEntry> chain =
                reader().chain("default", history.getLast().id()).orElseThrow();

        // then
        assertThat(chain).extracting(JournalEntry::event).containsExactlyElementsOf(history);
        assertThat(reader().chain("default", "nobody")).isEmpty();
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
        TaskPage first = reader().tasks(new TaskQuery("default", null, null, 3, null));
        TaskPage second = reader().tasks(new TaskQuery("default", null, null, 3, first.next()));
        TaskPage third = reader().tasks(new TaskQuery("default", null, null, 3, second.next()));

        // then
        assertThat(first.tasks()).extracting(TaskView::taskId).containsExactly("m6", "m5", "m4");
        assertThat(second.tasks()).extracting(TaskView::taskId).containsExactly("m3", "m2", "m1");
        assertThat(third.tasks()).extracting(TaskView::taskId).containsExactly("m0");
        assertThat(third.next()).isNull();
    }

    @Test
    void shouldEndTheLastFullPageWithoutANext() {
        // given
        write(Histories.startedBy("m1").created().events());

        // when
        TaskPage page = reader().tasks(new TaskQuery("default", null, null, 1, null));

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
        TaskPage reasoning = reader().tasks(new TaskQuery("default", "reasoning", null, 10, null));
        TaskPage ofSession = reader().tasks(new TaskQuery("default", null, "s1", 10, null));
        TaskPage both = reader().tasks(new TaskQuery("default", "completed", "s1", 10, null));
        TaskPage none = reader().tasks(new TaskQuery("default", "failed", null, 10, null));

        // then
        assertThat(reasoning.tasks()).extracting(TaskView::taskId).containsExactly("m3", "m2");
        assertThat(ofSession.tasks()).extracting(TaskView::taskId).containsExactly("m2", "m1");
        assertThat(both.tasks()).extracting(TaskView::taskId).containsExactly("m1");
        assertThat(none.tasks()).isEmpty();
    }

    @Test
    void shouldRefuseACursorThatNoPageGave() {
        assertThatThrownBy(() -> reader().tasks(new TaskQuery("default", null, null, 1, "?%")))
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
        assertThat(reader().task("default", "m1")).isPresent();
        assertThat(applied.malformedCount()).isEqualTo(2);
        assertThat(reader().position(0)).hasValue(new JournalCursor(0, applied.appliedCount() - 1));
    }

    @Test
    void shouldKeepEventsThatBelongToNoTaskForTheChain() {
        // given
        Event stray = Event.root("e1", EventType.of("file.changed"), NOW).build();

        // when
        write(List.of(stray));

        // then
        assertThat(reader().chain("default", "e1"))
                .hasValueSatisfying(chain ->
                        assertThat(chain).extracting(JournalEntry::event).containsExactly(stray));
        assertThat(reader().task("default", "e1")).isEmpty();
        assertThat(reader().events("default", "e1", null, 10)).isEmpty();
        assertThat(reader().tasks(new TaskQuery("default", null, null, 10, null))
                        .tasks())
                .isEmpty();
    }

    @Test
    void shouldRemoveTasksAfterTheRetentionAndKeepThoseThatWereTouched() {
        // given
        List<Event> old = Histories.startedBy("old", NOW, "s1", "default")
                .created()
                .answered()
                .events();
        Histories touched = Histories.startedBy("touched", NOW, null, "default").created();
        write(old);
        write(touched.events());
        driver.advanceWallClockTime(Duration.ofDays(20));
        write(List.of(touched.moved("reasoning", "acting").events().getLast()));
        driver.advanceWallClockTime(RETENTION.minusDays(20).plusSeconds(1));

        // when
        write(Histories.startedBy("new").created().events());

        // then
        assertThat(reader().task("default", "old")).isEmpty();
        assertThat(reader().chain("default", old.getLast().id())).isEmpty();
        assertThat(reader().tasks(new TaskQuery("default", null, "s1", 10, null))
                        .tasks())
                .isEmpty();
        assertThat(reader().tasks(new TaskQuery("default", null, null, 10, null))
                        .tasks())
                .extracting(TaskView::taskId)
                .containsExactlyInAnyOrder("touched", "new");

        // and when
        driver.advanceWallClockTime(RETENTION.plusSeconds(1));
        write(Histories.startedBy("newer").created().events());

        // then
        assertThat(reader().task("default", "touched")).isEmpty();
        assertThat(reader().task("default", "newer")).isPresent();
    }

    @Test
    void shouldKeepATaskUntilTheRetentionIsOver() {
        // given
        write(Histories.startedBy("old").created().events());
        driver.advanceWallClockTime(RETENTION.minusMillis(1));

        // when
        write(Histories.startedBy("new").created().events());

        // then
        assertThat(reader().task("default", "old")).isPresent();
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
