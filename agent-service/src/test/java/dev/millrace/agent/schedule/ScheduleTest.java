package dev.millrace.agent.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScheduleTest {

    private static final Instant NOW = Instant.parse("2026-11-23T12:00:00Z");

    @Test
    @DisplayName(
            "F-287: an event says what the schedule says, and which moment it is about; the same moment has the same id")
    void shouldMakeEvents() throws Exception {
        Schedule schedule = read("""
                {"cron": "0 9 * * 1-5", "zone": "Europe/Berlin", "template": "Report for {{body.team}} at {{metadata.scheduledAt}}",
                 "body": {"team": "ops"}, "metadata": {"a": 1}, "taskType": "clerk", "sessionId": "daily", "priority": 130, "ttl": 90000}""");
        Instant planned = Instant.parse("2026-11-24T08:00:00Z");

        Event event = schedule.fired(planned, planned.plusMillis(70));

        assertThat(event.type()).isEqualTo(KnownEventType.SCHEDULE_FIRED);
        assertThat(EventSchemas.problems(event)).isEmpty();
        assertThat(event.sessionId()).isEqualTo("daily");
        assertThat(event.namespace()).isEqualTo("default");
        assertThat(event.source()).isEqualTo("schedule/report");
        assertThat(event.effectivePriority()).isEqualTo(130);
        assertThat(event.timestamp()).isEqualTo(planned.plusMillis(70));
        assertThat(event.expiry()).isEqualTo(planned.plusMillis(90_070));
        assertThat(schedule.firedByHand("x", NOW).expiry()).isEqualTo(NOW.plusMillis(90_000));
        assertThat(event.fields())
                .isEqualTo(Map.of(
                        "template",
                        "Report for {{body.team}} at {{metadata.scheduledAt}}",
                        "body",
                        Map.of("team", "ops"),
                        "taskType",
                        "clerk",
                        "metadata",
                        Map.of("a", 1, "schedule", "report", "scheduledAt", "2026-11-24T08:00:00Z")));
        assertThat(schedule.fired(planned, NOW).id()).isEqualTo(event.id());
        assertThat(schedule.fired(planned.plusSeconds(1), NOW).id()).isNotEqualTo(event.id());
        assertThat(schedule.since(NOW.plusMillis(1)).fired(planned, NOW).id()).isNotEqualTo(event.id());
    }

    @Test
    @DisplayName("what stands on the topic is read as it was written")
    void shouldComeBack() throws Exception {
        Schedule schedule = read(
                "{\"at\": \"2026-12-24T18:00:00\", \"zone\": \"Europe/Berlin\", \"text\": \"hello\","
                        + " \"missed\": \"all\", \"missedLimit\": 7, \"ttl\": 31536000000, \"overlap\": \"skip\", \"sessionId\": \"s\"}");

        Schedule back = Schedule.ofJson("default/report", schedule.toJson());

        assertThat(back).isEqualTo(schedule);
        assertThat(back.timing().timetable().next(NOW)).contains(Instant.parse("2026-12-24T17:00:00Z"));
        assertThat(back.timing().timetable().next(Instant.parse("2026-12-24T17:00:00Z")))
                .isEmpty();
        assertThatExceptionOfType(InvalidScheduleException.class)
                .isThrownBy(() -> Schedule.ofJson("default/other", schedule.toJson()))
                .withMessageContaining("expected those of the key default/other");
    }

    @ParameterizedTest
    @DisplayName("what is wrong is told with its field, what was expected and found")
    @CsvSource(delimiter = '|', quoteCharacter = '\u0001', textBlock = """
            {"text": "a"}                                             | expected either cron or at, found neither
            {"text": "a", "cron": "* * * * *", "at": "2027-01-01T00:00:00Z"} | expected either cron or at, found both
            {"cron": "* * * * *"}                                     | expected
            {"cron": "* * * * *", "template": "{{body.x}}"}           | {{body.x}}, which leads nowhere
            {"cron": "* * * * *", "text": "a", "zone": "Mars/Olympus"} | zone: expected a time zone such as
            {"cron": "* * * * *", "text": "a", "mised": "all"}        | unknown field `mised`; did you mean `missed`?
            {"cron": "* * * * *", "text": "a", "missed": "some"}      | missed: expected one of skip, one, all, found "some"
            {"cron": "* * * * *", "text": "a", "missedLimit": 1001}   | missedLimit: expected a whole number from 1 to 1000, found 1001
            {"cron": "* * * * *", "text": "a", "missedLimit": 0}      | missedLimit: expected a whole number from 1 to 1000, found 0
            {"cron": "* * * * *", "text": "a", "overlap": "skip"}     | overlap: expected allow where there is no sessionId
            {"cron": "* * * * *", "text": "a", "priority": 99}        | priority: expected a whole number from 100 to 999, found 99
            {"cron": "* * * * *", "text": "a", "ttl": 0}              | ttl: expected a whole number from 1 to 31536000000, found 0
            {"cron": "* * * * *", "text": "a", "ttl": "90s"}          | ttl: expected a whole number from 1 to 31536000000, found "90s"
            {"cron": "* * * * *", "text": "a", "paused": "yes"}       | paused: expected true or false, found "yes"
            {"cron": "* * * * *", "text": "a", "sessionId": 7}        | sessionId: expected a text that is not blank, found 7
            {"at": "tomorrow", "text": "a"}                           | at: expected a date and time such as
            {"at": "+999999999-12-31T23:59:59Z", "text": "a"}         | at: expected a date and time such as
            {"at": "+999999999-12-31T23:59:59", "text": "a"}          | at: expected a date and time such as
            {"cron": "99 * * * *", "text": "a"}                       | cron: "99 * * * *" cannot be read
            """)
    void shouldSayWhatIsWrong(String json, String why) {
        assertThatExceptionOfType(InvalidScheduleException.class)
                .isThrownBy(() -> read(json))
                .withMessageContaining(why);
    }

    @Test
    @DisplayName("a definition has at most 256 KiB")
    void shouldLimitSize() throws Exception {
        String head = "{\"cron\":\"* * * * *\",\"text\":\"a\",\"body\":\"";
        int room = ScheduleFields.MAX_BYTES - head.length() - 2;

        assertThat(read(head + "x".repeat(room) + "\"}").name()).isEqualTo("report");
        assertThatExceptionOfType(InvalidScheduleException.class)
                .isThrownBy(() -> read(head + "x".repeat(room + 1) + "\"}"))
                .withMessageContaining("expected at most 262144 bytes as JSON");
    }

    @Test
    @DisplayName("there is a limit to how many schedules there are, and to how often one is due")
    void shouldLimit() throws Exception {
        ScheduleLimits limits = new ScheduleLimits(2, Duration.ofSeconds(10));
        Schedule fits = read("{\"cron\": \"*/10 * * * * *\", \"text\": \"a\"}");

        assertThat(limits.problem(fits, 1)).isEmpty();
        assertThat(limits.problem(fits, 2)).get().asString().contains("expected fewer than 2 schedules");
        assertThat(limits.problem(read("{\"cron\": \"*/9 * * * * *\", \"text\": \"a\"}"), 0))
                .get()
                .asString()
                .contains("expected PT10S or more between two moments")
                .contains("found PT9S");
        assertThat(limits.problem(read("{\"cron\": \"0 0 30 2 *\", \"text\": \"a\"}"), 0))
                .isEqualTo(Optional.of("cron: expected a date that there is, found \"0 0 30 2 *\""));
        assertThat(limits.problem(read("{\"at\": \"2026-11-23T12:00:00Z\", \"text\": \"a\"}"), 0))
                .isEqualTo(Optional.of("at: expected a time to come, found 2026-11-23T12:00:00Z"));
        assertThatIllegalArgumentException().isThrownBy(() -> new ScheduleLimits(1, Duration.ofMillis(999)));
        assertThatIllegalArgumentException().isThrownBy(() -> new ScheduleLimits(-1, Duration.ofSeconds(1)));
    }

    @Test
    @DisplayName("an older version than is known does not come back; a schedule that is no good leaves the one before")
    void shouldKeepTheNewest() throws Exception {
        Schedules schedules = new Schedules();
        Schedule old = read("{\"cron\": \"* * * * *\", \"text\": \"old\"}");
        Schedule changed = read("{\"cron\": \"* * * * *\", \"text\": \"new\"}").since(NOW.plusSeconds(1));
        schedules.put(changed);

        schedules.take("default/report", old.toJson());
        assertThatExceptionOfType(MalformedEventException.class)
                .isThrownBy(() -> schedules.take("default/report", "{}".getBytes(StandardCharsets.UTF_8)));

        assertThat(schedules.all()).containsExactly(changed);
        schedules.take("default/report", null);
        assertThat(schedules.all()).isEmpty();
    }

    @Test
    @DisplayName(
            "what somebody else writes to the topic with a date that no clock has is no schedule, and stops nobody")
    void shouldTakeNoScheduleThatChangedBeyondAllTime() {
        String json = "{\"namespace\":\"default\",\"name\":\"report\",\"cron\":\"* * * * *\",\"text\":\"a\","
                + "\"changedAt\":\"+999999999-12-31T23:59:59Z\"}";

        assertThatExceptionOfType(InvalidScheduleException.class)
                .isThrownBy(() -> Schedule.ofJson("default/report", json.getBytes(StandardCharsets.UTF_8)))
                .withMessageContaining("changedAt: expected a time");
    }

    private static Schedule read(String json) throws InvalidScheduleException, MalformedEventException {
        JsonObject fields = Json.readObject(json.getBytes(StandardCharsets.UTF_8));
        return new ScheduleFields(fields).read("default", "report", NOW);
    }
}
