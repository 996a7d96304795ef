package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.schedule.InvalidScheduleException;
import dev.millrace.agent.schedule.Schedule;
import dev.millrace.agent.schedule.ScheduleFields;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Schedules in the machine: when their events are there, and that each is there once. */
@Tag("slow")
class SchedulesTopologyTest {

    private static final AdmissionSettings ROOM = new AdmissionSettings(1000, AdmissionSettings.Policy.QUEUE);
    private static final Instant START = TestMachine.START;

    @TempDir
    private Path folder;

    @Test
    @DisplayName("a schedule starts a task at each of its moments (F-022), and none before it was defined")
    void shouldFire() {
        try (TestMachine machine = machine("a", START)) {
            machine.schedules.put(schedule("report", "{\"cron\": \"* * * * *\", \"text\": \"go\"}", START));

            List<String> at = new ArrayList<>();
            for (int second = 0; second < 150; second++) {
                machine.driver.advanceWallClockTime(Duration.ofSeconds(1));
                fired(machine).forEach(event -> at.add(scheduledAt(event)));
            }

            assertThat(at).containsExactly("2026-11-21T12:01:00Z", "2026-11-21T12:02:00Z");
            assertThat(machine.called()).hasSize(2).doesNotHaveDuplicates();
        }
    }

    @Test
    @DisplayName("a schedule that is due once starts one task")
    void shouldFireOnce() {
        try (TestMachine machine = machine("a", START)) {
            machine.schedules.put(schedule("once", "{\"at\": \"2026-11-21T12:00:30Z\", \"text\": \"go\"}", START));

            machine.driver.advanceWallClockTime(Duration.ofSeconds(29));
            assertThat(fired(machine)).isEmpty();
            machine.driver.advanceWallClockTime(Duration.ofSeconds(2));
            machine.driver.advanceWallClockTime(Duration.ofDays(2));
            assertThat(fired(machine)).hasSize(1);
        }
    }

    @ParameterizedTest(name = "{0}, up to {1}, back at +{2}: {3} of them")
    @DisplayName("moments that were missed are made up for as the schedule says, by whoever has the partition then")
    @CsvSource({
        "skip, 100, PT10M5S, 1",
        "skip, 100, PT11M, 1",
        "one, 100, PT10M5S, 1",
        "one, 100, P30D, 1",
        "all, 100, PT10M5S, 9",
        "all, 3, PT10M5S, 3",
        "all, 1000, P30D, 1000"
    })
    void shouldMakeUpForWhatWasMissed(String missed, int limit, Duration back, int expected) {
        Schedule schedule = schedule(
                "report",
                "{\"cron\": \"* * * * *\", \"text\": \"go\", \"missed\": \"" + missed + "\", \"missedLimit\": " + limit
                        + "}",
                START);
        try (TestMachine before = machine("a", START);
                TestMachine after = machine("b", START.plus(back))) {
            before.schedules.put(schedule);
            before.driver.advanceWallClockTime(Duration.ofSeconds(61));
            List<Event> first = fired(before);
            assertThat(first).hasSize(1);

            after.inherit(before, TaskStores.SCHEDULES);
            after.schedules.put(schedule);
            for (int i = 0; i < 25; i++) {
                after.driver.advanceWallClockTime(Duration.ofMillis(200));
            }

            List<Event> then = fired(after);
            assertThat(then).hasSize(expected).extracting(Event::id).doesNotHaveDuplicates();
            assertThat(then)
                    .extracting(Event::id)
                    .doesNotContain(first.getFirst().id());
            assertThat(scheduledAt(then.getLast()))
                    .isEqualTo(START.plus(back).truncatedTo(ChronoUnit.MINUTES).toString());
            assertThat(then).extracting(SchedulesTopologyTest::scheduledAt).isSorted();
        }
    }

    @Test
    @DisplayName("what was due once and is more than a minute late is skipped where the schedule says so")
    void shouldSkipWhatIsLate() {
        String at = "{\"at\": \"2026-11-21T12:00:30Z\", \"text\": \"go\", \"missed\": \"";
        try (TestMachine machine = machine("a", START.plusSeconds(91))) {
            machine.schedules.put(schedule("late", at + "skip\"}", START));
            machine.schedules.put(schedule("made-up", at + "one\"}", START));

            machine.driver.advanceWallClockTime(Duration.ofSeconds(1));

            assertThat(fired(machine)).extracting(Event::source).containsExactly("schedule/made-up");
        }
    }

    @Test
    @DisplayName("where overlaps are skipped, nothing is fired while the task before goes on, and then again")
    void shouldSkipOverlaps() {
        try (TestMachine machine = machine("a", START)) {
            machine.schedules.put(schedule(
                    "report",
                    "{\"cron\": \"* * * * *\", \"text\": \"go\", \"sessionId\": \"s\", \"overlap\": \"skip\"}",
                    START));
            machine.driver.advanceWallClockTime(Duration.ofSeconds(61));
            String first = machine.called().getFirst();

            machine.driver.advanceWallClockTime(Duration.ofSeconds(60));
            assertThat(machine.called()).containsExactly(first);
            machine.answer(first);
            machine.driver.advanceWallClockTime(Duration.ofSeconds(60));

            assertThat(machine.called()).hasSize(2);
            assertThat(fired(machine))
                    .extracting(SchedulesTopologyTest::scheduledAt)
                    .containsExactly("2026-11-21T12:01:00Z", "2026-11-21T12:03:00Z");
        }
    }

    @Test
    @DisplayName("an event that was refused stands in nobody's way for longer than ten minutes")
    void shouldGoOnAfterARefusal() {
        try (TestMachine machine = machine("a", START)) {
            machine.schedules.put(schedule(
                    "report",
                    "{\"cron\": \"*/6 * * * *\", \"text\": \"go\", \"taskType\": \"nobody\", \"sessionId\": \"s\","
                            + " \"overlap\": \"skip\"}",
                    START));
            for (int minute = 0; minute < 19; minute++) {
                machine.driver.advanceWallClockTime(Duration.ofMinutes(1));
            }
            assertThat(machine.deadLetters()).containsExactly("unknown_agent", "unknown_agent");
        }
    }

    @Test
    @DisplayName(
            "paused it is not due, changed it counts from then, removed its row goes, and an old version is waited out")
    void shouldFollowChanges() {
        Schedule first = schedule("report", "{\"cron\": \"* * * * *\", \"text\": \"go\"}", START);
        try (TestMachine machine = machine("a", START)) {
            machine.schedules.put(first);
            machine.driver.advanceWallClockTime(Duration.ofSeconds(61));
            assertThat(fired(machine)).hasSize(1);

            machine.schedules.put(first.paused(true, START.plusSeconds(61)));
            machine.driver.advanceWallClockTime(Duration.ofMinutes(5));
            assertThat(fired(machine)).isEmpty();

            machine.schedules.put(first.paused(false, START.plusSeconds(390)));
            machine.driver.advanceWallClockTime(Duration.ofSeconds(20));
            assertThat(fired(machine)).isEmpty();
            machine.driver.advanceWallClockTime(Duration.ofSeconds(40));
            assertThat(fired(machine))
                    .extracting(SchedulesTopologyTest::scheduledAt)
                    .containsExactly("2026-11-21T12:07:00Z");

            machine.schedules.beginAnew();
            machine.schedules.put(first);
            machine.driver.advanceWallClockTime(Duration.ofMinutes(2));
            assertThat(fired(machine)).isEmpty();

            machine.schedules.remove("default", "report");
            machine.driver.advanceWallClockTime(Duration.ofSeconds(31));
            assertThat(rows(machine)).isEqualTo(1);
            machine.driver.advanceWallClockTime(Duration.ofSeconds(90));
            machine.driver.advanceWallClockTime(Duration.ofSeconds(31));
            assertThat(rows(machine)).isZero();
        }
    }

    @Test
    @DisplayName(
            "a schedule that was taken back and made again by somebody whose clock is behind fires, a minute late at"
                    + " first, and no moment twice")
    void shouldFireWhatWasMadeAgain() {
        Schedule first = schedule("report", "{\"cron\": \"* * * * *\", \"text\": \"go\"}", START);
        try (TestMachine machine = machine("a", START)) {
            machine.schedules.put(first.since(START.plusSeconds(50)));
            machine.driver.advanceWallClockTime(Duration.ofSeconds(61));
            machine.schedules.remove("default", "report");
            machine.driver.advanceWallClockTime(Duration.ofSeconds(1));
            fired(machine);

            // when: by a clock that is behind
            machine.schedules.put(first.since(START.plusSeconds(20)));
            machine.driver.advanceWallClockTime(Duration.ofSeconds(1));
            machine.driver.advanceWallClockTime(Duration.ofSeconds(59));
            List<Event> early = fired(machine);
            for (int second = 0; second < 90; second++) {
                machine.driver.advanceWallClockTime(Duration.ofSeconds(1));
            }

            // then
            assertThat(early).as("a newer version may be on its way").isEmpty();
            assertThat(fired(machine))
                    .extracting(SchedulesTopologyTest::scheduledAt)
                    .containsExactly("2026-11-21T12:02:00Z", "2026-11-21T12:03:00Z");
        }
    }

    @Test
    @DisplayName("a change right at a moment does not fire that moment twice")
    void shouldNotFireTwiceWhenChanged() {
        Schedule first = schedule("report", "{\"cron\": \"* * * * *\", \"text\": \"go\"}", START);
        try (TestMachine machine = machine("a", START)) {
            machine.schedules.put(first);
            machine.driver.advanceWallClockTime(Duration.ofMillis(60_100));
            machine.schedules.put(first.since(START.plusMillis(59_990)));
            machine.driver.advanceWallClockTime(Duration.ofSeconds(2));

            assertThat(fired(machine)).hasSize(1);
        }
    }

    @Test
    @DisplayName("a schedule that cannot be fired rests, and costs the others nothing")
    void shouldKeepToItself() {
        Schedule good = schedule("good", "{\"cron\": \"*/10 * * * * *\", \"text\": \"go\"}", START);
        JsonObject tooLarge = JsonObject.of(Map.of("text", "go", "body", "x".repeat(3_000_000)));
        try (TestMachine machine = machine("a", START)) {
            machine.schedules.put(good);
            machine.schedules.put(
                    new Schedule("default", "bad", good.timing(), good.conversation(), tooLarge, false, START));
            for (int i = 0; i < 70; i++) {
                machine.driver.advanceWallClockTime(Duration.ofSeconds(1));
            }

            assertThat(fired(machine))
                    .hasSize(7)
                    .allSatisfy(event -> assertThat(event.source()).isEqualTo("schedule/good"));
            assertThat(rows(machine)).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("a schedule is fired by the partition of its session and by no other")
    void shouldHaveAHome() {
        List<String> expected = new ArrayList<>();
        List<String> elsewhere = new ArrayList<>();
        try (TestMachine machine = new TestMachine(folder, ROOM, 2, START)) {
            for (int i = 0; i < 8; i++) {
                String session = "s" + i;
                machine.schedules.put(schedule(
                        "n" + i,
                        "{\"cron\": \"* * * * *\", \"text\": \"go\", \"sessionId\": \"" + session + "\"}",
                        START));
                boolean here = Utils.toPositive(Utils.murmur2(session.getBytes(StandardCharsets.UTF_8))) % 2 == 0;
                (here ? expected : elsewhere).add(session);
            }
            machine.driver.advanceWallClockTime(Duration.ofSeconds(61));

            assertThat(elsewhere).isNotEmpty();
            assertThat(fired(machine)).extracting(Event::sessionId).containsExactlyElementsOf(expected);
        }
    }

    private TestMachine machine(String name, Instant start) {
        return new TestMachine(folder.resolve(name), ROOM, 1, start);
    }

    private static List<Event> fired(TestMachine machine) {
        return machine.journal().stream()
                .filter(event -> event.type() == KnownEventType.SCHEDULE_FIRED)
                .toList();
    }

    private static String scheduledAt(Event event) {
        return event.fields().get("metadata") instanceof Map<?, ?> metadata
                ? String.valueOf(metadata.get("scheduledAt"))
                : "none";
    }

    private static long rows(TestMachine machine) {
        long count = 0;
        try (KeyValueIterator<String, ScheduleRow> rows =
                machine.rows(TaskStores.SCHEDULES).all()) {
            while (rows.hasNext()) {
                rows.next();
                count++;
            }
        }
        return count;
    }

    private static Schedule schedule(String name, String json, Instant changedAt) {
        try {
            return new ScheduleFields(Json.readObject(json.getBytes(StandardCharsets.UTF_8)))
                    .read("default", name, changedAt);
        } catch (MalformedEventException | InvalidScheduleException e) {
            throw new AssertionError(e);
        }
    }
}
