package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.event;
import static dev.millrace.agent.topology.TestMachine.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.topology.AdmissionSettings.Policy;
import dev.millrace.engine.StoreSection;
import dev.millrace.schemas.KnownEventType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is too old goes, as fast as it comes. */
@Tag("slow")
class RetentionTopologyTest {

    private static final Duration RETENTION = Duration.ofDays(30);
    private static final int PER_SECOND = 300;

    @TempDir
    Path stateDir;

    private TestMachine machine;

    @BeforeEach
    @SuppressWarnings("NullAway") // fields of a test
    void start() {
        machine = new TestMachine(stateDir, new AdmissionSettings(10_000, Policy.QUEUE));
    }

    @AfterEach
    void stop() {
        machine.close();
    }

    @Test
    @DisplayName("what 300 tasks a second leave behind is removed at more than 300 a second, a bounded number at"
            + " a time, and no sooner than it is due")
    void shouldKeepUp() {
        // given
        int seconds = 2;
        for (int i = 0; i < PER_SECOND * seconds; i++) {
            machine.send(message("m" + i));
            machine.send(event("c" + i, KnownEventType.TASK_CANCEL_REQUESTED)
                    .taskId("m" + i)
                    .payload(Map.of()));
        }
        assertThat(count(TaskStores.TASKS)).isEqualTo(PER_SECOND * seconds);

        // when: nothing is due
        machine.driver.advanceWallClockTime(RETENTION.minusSeconds(1));

        // then
        assertThat(count(TaskStores.TASKS)).isEqualTo(PER_SECOND * seconds);

        // when
        machine.driver.advanceWallClockTime(Duration.ofSeconds(2));

        // then
        int left = count(TaskStores.TASKS);
        assertThat(PER_SECOND * seconds - left).isBetween(1, 3 * DueRows.MOST_AT_ONCE);
        machine.driver.advanceWallClockTime(Duration.ofMillis(200));
        assertThat(left - count(TaskStores.TASKS)).as("one run").isBetween(1, DueRows.MOST_AT_ONCE);
        for (int i = 0; i < 5 * seconds; i++) {
            machine.driver.advanceWallClockTime(Duration.ofMillis(200));
        }
        assertThat(count(TaskStores.TASKS)).isZero();
        assertThat(count(TaskStores.TRANSCRIPTS)).isZero();
        assertThat(count(TaskStores.ENDED))
                .as("and the mark that all are in it")
                .isEqualTo(1);
    }

    @Test
    @DisplayName("a task that goes on after its end is counted from its next end")
    void shouldCountFromTheLastEnd() {
        // given
        machine.send(message("m1"));
        machine.answer("m1");
        machine.driver.advanceWallClockTime(Duration.ofHours(1));
        machine.send(event("r1", KnownEventType.TASK_RESUMED).taskId("m1").payload(Map.of("newInput", "again")));
        machine.answer("m1");

        // when: the first end is old enough
        machine.driver.advanceWallClockTime(RETENTION.minusMinutes(30));

        // then
        assertThat(count(TaskStores.TASKS)).isEqualTo(1);
        assertThat(count(TaskStores.ENDED)).isEqualTo(2);

        // when
        machine.driver.advanceWallClockTime(Duration.ofHours(1));

        // then
        assertThat(count(TaskStores.TASKS)).isZero();
    }

    @Test
    @DisplayName("a transcript that is too long for one run goes in several, and the task is gone from the first on")
    void shouldBoundARun() {
        // given
        machine.send(message("m1"));
        machine.answer("m1");
        for (int seq = 10; seq < 10 + DueRows.ROWS_AT_ONCE; seq++) {
            machine.rows(TaskStores.TRANSCRIPTS)
                    .put(TaskStores.transcriptKey("m1", seq), new TranscriptEntry.UserText("word"));
        }

        // when
        machine.driver.advanceWallClockTime(RETENTION.plusSeconds(1));

        // then
        assertThat(count(TaskStores.TASKS)).isZero();
        assertThat(count(TaskStores.TRANSCRIPTS)).isPositive();
        machine.driver.advanceWallClockTime(Duration.ofMillis(200));
        assertThat(count(TaskStores.TRANSCRIPTS)).isZero();
    }

    @Test
    @DisplayName("what a session refers to stays also where its task's row is the last one that a run may remove")
    void shouldKeepWhatASessionRefersToAtTheLimit() {
        // given: so much of another task before it that one row is left
        machine.send(message("m1"));
        machine.answer("m1");
        int own = machine.transcript("m1").size();
        for (int seq = 10; seq < 10 + DueRows.ROWS_AT_ONCE - 1 - own; seq++) {
            machine.rows(TaskStores.TRANSCRIPTS)
                    .put(TaskStores.transcriptKey("m1", seq), new TranscriptEntry.UserText("word"));
        }
        machine.send(message("m2").sessionId("ada"));
        machine.answer("m2");
        machine.driver.advanceWallClockTime(RETENTION.minusDays(1));
        machine.send(message("m3").sessionId("ada"));

        // when
        machine.driver.advanceWallClockTime(Duration.ofDays(2));
        boolean inOneRun = machine.rows(TaskStores.TASKS).get("m2") == null;
        for (int i = 0; i < 5; i++) {
            machine.driver.advanceWallClockTime(Duration.ofMillis(200));
        }

        // then
        assertThat(inOneRun).as("it was the last one").isTrue();
        assertThat(machine.transcript("m1")).isEmpty();
        assertThat(machine.transcript("m2")).hasSize(own);
    }

    @Test
    @DisplayName("rows of before there was an index are found")
    void shouldIndexOlderRows() {
        // given
        machine.send(message("m1"));
        machine.answer("m1");
        try (TestMachine next = new TestMachine(stateDir.resolve("next"), new AdmissionSettings(1, Policy.QUEUE))) {
            next.inherit(machine, TaskStores.TASKS);
            next.inherit(machine, TaskStores.TRANSCRIPTS);

            // when
            next.driver.advanceWallClockTime(Duration.ofSeconds(1));
            next.driver.advanceWallClockTime(RETENTION.plusSeconds(1));

            // then
            assertThat(count(next, TaskStores.TASKS)).isZero();
            assertThat(count(next, TaskStores.TRANSCRIPTS)).isZero();
        }
    }

    private int count(StoreSection<?> section) {
        return count(machine, section);
    }

    private static int count(TestMachine machine, StoreSection<?> section) {
        int count = 0;
        try (KeyValueIterator<String, ?> rows = machine.rows(section).all()) {
            while (rows.hasNext()) {
                rows.next();
                count++;
            }
        }
        return count;
    }
}
