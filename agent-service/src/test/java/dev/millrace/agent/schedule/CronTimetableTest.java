package dev.millrace.agent.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CronTimetableTest {

    private static final Instant END = Instant.parse("9999-01-01T00:00:00Z");

    @ParameterizedTest(name = "{0} in {1} after {2}")
    @DisplayName("what is due next, over changes of the clock, leap years and ends of months")
    @CsvSource(delimiter = '|', textBlock = """
            # nothing special
            0 9 * * 1-5         | Europe/Berlin    | 2026-11-20T10:00:00Z | 2026-11-23T08:00:00Z 2026-11-24T08:00:00Z
            */20 * * * * *      | UTC              | 2026-01-01T00:00:30Z | 2026-01-01T00:00:40Z 2026-01-01T00:01:00Z
            * * * * * *         | UTC              | 2026-01-01T00:00:00.500Z | 2026-01-01T00:00:01Z 2026-01-01T00:00:02Z
            @daily              | Asia/Kolkata     | 2026-01-01T00:00:00Z | 2026-01-01T18:30:00Z
            @hourly             | Asia/Kolkata     | 2026-01-01T00:00:00Z | 2026-01-01T00:30:00Z
            @weekly             | UTC              | 2026-01-01T00:00:00Z | 2026-01-04T00:00:00Z
            0 0 * * 7           | UTC              | 2026-01-01T00:00:00Z | 2026-01-04T00:00:00Z
            0 0 13 * 5          | UTC              | 2026-01-09T01:00:00Z | 2026-01-13T00:00:00Z 2026-01-16T00:00:00Z
            0 12 29 2 *         | UTC              | 2026-01-01T00:00:00Z | 2028-02-29T12:00:00Z 2032-02-29T12:00:00Z
            0 12 29 2 *         | UTC              | 2096-03-01T00:00:00Z | 2104-02-29T12:00:00Z
            0 0 31 * *          | UTC              | 2026-01-31T00:00:00Z | 2026-03-31T00:00:00Z 2026-05-31T00:00:00Z
            0 0 1 JAN,JUL *     | UTC              | 2026-01-02T00:00:00Z | 2026-07-01T00:00:00Z 2027-01-01T00:00:00Z
            # the clock leaps over 02:00 to 03:00: what means a time of the day is due when it has leapt, once
            30 2 * * *          | Europe/Berlin    | 2026-03-28T12:00:00Z | 2026-03-29T01:00:00Z 2026-03-30T00:30:00Z
            15,45 2 * * *       | Europe/Berlin    | 2026-03-28T12:00:00Z | 2026-03-29T01:00:00Z 2026-03-30T00:15:00Z
            30 2,3 * * *        | Europe/Berlin    | 2026-03-28T12:00:00Z | 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z
            0 3 * * *           | Europe/Berlin    | 2026-03-28T12:00:00Z | 2026-03-29T01:00:00Z 2026-03-30T01:00:00Z
            0 0 * * *           | America/Sao_Paulo| 2018-11-03T12:00:00Z | 2018-11-04T03:00:00Z 2018-11-05T02:00:00Z
            # and what goes by the time that passes goes on
            */30 * * * *        | Europe/Berlin    | 2026-03-29T00:10:00Z | 2026-03-29T00:30:00Z 2026-03-29T01:00:00Z
            15 * * * *          | Europe/Berlin    | 2026-03-29T00:20:00Z | 2026-03-29T01:15:00Z
            # the clock shows 02:00 to 03:00 twice
            30 2 * * *          | Europe/Berlin    | 2026-10-24T12:00:00Z | 2026-10-25T00:30:00Z 2026-10-26T01:30:00Z
            30 2 * * *          | Europe/Berlin    | 2026-10-25T00:40:00Z | 2026-10-26T01:30:00Z
            30 2 * * *          | Europe/Berlin    | 2026-10-25T01:10:00Z | 2026-10-26T01:30:00Z
            0 3 * * *           | Europe/Berlin    | 2026-10-25T01:10:00Z | 2026-10-25T02:00:00Z
            30 0 * * *          | America/Havana   | 2026-10-31T12:00:00Z | 2026-11-01T04:30:00Z 2026-11-02T05:30:00Z
            */30 * * * * | Europe/Berlin | 2026-10-25T00:10:00Z | 2026-10-25T00:30:00Z 2026-10-25T01:00:00Z
            */30 * * * * | Europe/Berlin | 2026-10-25T01:10:00Z | 2026-10-25T01:30:00Z 2026-10-25T02:00:00Z
            0 */2 * * *         | Europe/Berlin    | 2026-10-24T23:00:00Z | 2026-10-25T00:00:00Z 2026-10-25T01:00:00Z 2026-10-25T03:00:00Z
            # by half an hour
            45 1 * * *          | Australia/Lord_Howe | 2026-04-04T00:00:00Z | 2026-04-04T14:45:00Z 2026-04-05T15:15:00Z
            0 * * * *           | Australia/Lord_Howe | 2026-04-04T14:00:00Z | 2026-04-04T15:30:00Z
            """)
    void shouldFindWhatIsNext(String cron, String zone, String after, String expected) {
        CronTimetable timetable = CronTimetable.of(cron, ZoneId.of(zone));
        List<Instant> moments =
                Stream.of(expected.split(" ", -1)).map(Instant::parse).toList();

        assertThat(timetable.first(Instant.parse(after), END, moments.size())).isEqualTo(moments);
    }

    @Test
    @DisplayName("a date that no year has is never due")
    void shouldKnowDatesThatAreNot() {
        assertThat(CronTimetable.of("0 0 30 2 *", ZoneId.of("Europe/Berlin")).next(Instant.EPOCH))
                .isEmpty();
    }

    @ParameterizedTest
    @DisplayName("what is due does not depend on where one begins to look, over a year with its changes of the clock")
    @ValueSource(strings = {"30 2 * * *", "*/7 * * * *", "0 */3 * * *", "15 1-3 * * 0", "5 10 2 28-31 * *"})
    void shouldNotDependOnTheBeginning(String cron) {
        Random random = new Random(4);
        for (String zone : List.of("Europe/Berlin", "America/Havana", "Australia/Lord_Howe")) {
            CronTimetable timetable = CronTimetable.of(cron, ZoneId.of(zone));
            for (String day : List.of("2026-03-28", "2026-10-24", "2026-10-31", "2026-04-04", "2026-03-07")) {
                Instant begin = Instant.parse(day + "T00:00:00Z");
                List<Instant> all = timetable.first(begin, begin.plusSeconds(3 * 86_400), 1000);
                assertThat(all).isSorted().doesNotHaveDuplicates();
                for (int i = 0; i < 4; i++) {
                    Instant from = begin.plusSeconds(random.nextInt(2 * 86_400));
                    assertThat(timetable.first(from, begin.plusSeconds(3 * 86_400), 1000))
                            .as("%s in %s after %s", cron, zone, from)
                            .isEqualTo(all.stream()
                                    .filter(moment -> moment.isAfter(from))
                                    .toList());
                }
            }
        }
    }

    @Test
    @DisplayName("the last moments of a long time are found without going through all of it")
    void shouldFindTheLast() {
        Instant after = Instant.parse("2020-01-01T00:00:00Z");
        Instant until = Instant.parse("2026-02-20T00:00:00.300Z");

        assertThat(CronTimetable.of("* * * * * *", ZoneOffset.UTC).last(after, until, 3))
                .containsExactly(
                        Instant.parse("2026-02-19T23:59:58Z"),
                        Instant.parse("2026-02-19T23:59:59Z"),
                        Instant.parse("2026-02-20T00:00:00Z"));
        assertThat(CronTimetable.of("* * * * 1 *", ZoneOffset.UTC).last(after, until, 1))
                .containsExactly(Instant.parse("2026-01-31T23:59:59Z"));
        assertThat(CronTimetable.of("0 0 1 1 *", ZoneOffset.UTC).last(after, until, 100))
                .hasSize(6);
        assertThat(CronTimetable.of("0 0 1 1 *", ZoneOffset.UTC).last(until, until, 1))
                .isEmpty();
    }

    @ParameterizedTest
    @DisplayName("what is no expression is refused, and it is said why")
    @CsvSource(delimiter = '|', textBlock = """
            61 * * * *        | Value 61 not in range
            * * *             | expected 5 fields
            */0 * * * *       | Period 0
            0 0 L * *         | cannot be read
            0 0 0 1 1 * 2026  | expected 5 fields
            @reboot           | expected 5 fields
            """)
    void shouldRefuse(String cron, String why) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CronTimetable.of(cron, ZoneOffset.UTC))
                .withMessageStartingWith("cron: ")
                .withMessageContaining(why);
    }

    @Test
    @DisplayName("an expression has at most 200 characters")
    void shouldLimitExpressions() {
        String days = "11" + ",1".repeat(95);

        assertThat("0 0 " + days + " * *").hasSize(CronTimetable.MAX_LENGTH);
        assertThat(CronTimetable.of("0 0 " + days + " * *", ZoneOffset.UTC).next(Instant.EPOCH))
                .contains(Instant.parse("1970-01-11T00:00:00Z"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CronTimetable.of("0 0 1" + days + " * *", ZoneOffset.UTC))
                .withMessageContaining("at most 200 characters, found 201");
    }
}
