package dev.millrace.agent.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.JsonObject;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ScheduleBookTest {

    private static final Instant NOW = Instant.parse("2026-11-23T12:00:00Z");
    private static final JsonObject DAILY = JsonObject.of(Map.of("cron", "@daily", "text", "go"));

    private final Schedules known = new Schedules();
    private final List<String> published = new ArrayList<>();
    private boolean reachable = true;
    private final ScheduleBook book = new ScheduleBook(
            known,
            (key, value) -> {
                published.add(key + (value == null ? " gone" : ""));
                return reachable;
            },
            new ScheduleLimits(2, Duration.ofSeconds(1)),
            Clock.fixed(NOW, ZoneOffset.UTC));

    @Test
    @DisplayName("what is put is stored and known at once; the same once more changes nothing")
    void shouldPut() throws Exception {
        ScheduleBook.Outcome first = book.put("acme", "report", DAILY);
        ScheduleBook.Outcome same = book.put("acme", "report", DAILY);

        assertThat(first)
                .isInstanceOfSatisfying(
                        ScheduleBook.Done.class,
                        done -> assertThat(done.isNew()).isTrue());
        assertThat(same)
                .isInstanceOfSatisfying(
                        ScheduleBook.Done.class,
                        done -> assertThat(done.isNew()).isFalse());
        assertThat(published).containsExactly("schedule/acme/report");
        assertThat(known.find("acme", "report").orElseThrow().changedAt()).isEqualTo(NOW);
        assertThat(known.find("default", "report")).isEmpty();
    }

    @Test
    @DisplayName("a change is later than what it changes, also on a clock that is behind")
    void shouldOrderChanges() throws Exception {
        known.put(new ScheduleFields(DAILY).read("default", "report", NOW.plusSeconds(5)));

        ScheduleBook.Outcome changed =
                book.put("default", "report", JsonObject.of(Map.of("cron", "@hourly", "text", "go")));
        ScheduleBook.Outcome paused = book.pause("default", "report", true);

        assertThat(((ScheduleBook.Done) changed).schedule().changedAt()).isEqualTo(NOW.plusMillis(5_001));
        assertThat(((ScheduleBook.Done) paused).schedule().changedAt()).isEqualTo(NOW.plusMillis(5_002));
        assertThat(((ScheduleBook.Done) paused).schedule().paused()).isTrue();
    }

    @Test
    @DisplayName("there are at most so many; one that is there can be changed at the limit")
    void shouldLimit() throws Exception {
        assertThat(book.put("default", "a", DAILY)).isInstanceOf(ScheduleBook.Done.class);
        assertThat(book.put("acme", "b", DAILY)).isInstanceOf(ScheduleBook.Done.class);

        assertThat(book.put("default", "c", DAILY))
                .isInstanceOfSatisfying(
                        ScheduleBook.Refused.class,
                        refused -> assertThat(refused.problems())
                                .singleElement()
                                .asString()
                                .contains("expected fewer than 2 schedules"));
        assertThat(book.put("default", "a", JsonObject.of(Map.of("cron", "@hourly", "text", "go"))))
                .isInstanceOf(ScheduleBook.Done.class);
        assertThat(book.remove("default", "a")).isInstanceOf(ScheduleBook.Done.class);
        assertThat(book.put("default", "c", DAILY)).isInstanceOf(ScheduleBook.Done.class);
    }

    @Test
    @DisplayName("what is not there, no good or not stored changes nothing")
    void shouldRefuse() throws Exception {
        assertThat(book.put("default", "a", DAILY)).isInstanceOf(ScheduleBook.Done.class);

        assertThat(book.remove("default", "nobody")).isEqualTo(new ScheduleBook.Unknown());
        assertThat(book.pause("default", "nobody", true)).isEqualTo(new ScheduleBook.Unknown());
        assertThat(book.put("default", "b", JsonObject.of(Map.of("text", "go"))))
                .isInstanceOf(ScheduleBook.Refused.class);
        reachable = false;
        assertThat(book.put("default", "b", DAILY)).isEqualTo(new ScheduleBook.NotStored());
        assertThat(book.remove("default", "a")).isEqualTo(new ScheduleBook.NotStored());
        assertThat(known.all()).extracting(Schedule::name).containsExactly("a");
    }
}
