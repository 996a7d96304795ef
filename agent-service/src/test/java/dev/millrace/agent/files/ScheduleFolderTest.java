package dev.millrace.agent.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.schedule.Schedule;
import dev.millrace.agent.schedule.ScheduleBook;
import dev.millrace.agent.schedule.ScheduleLimits;
import dev.millrace.agent.schedule.Schedules;
import dev.millrace.schemas.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("schedules as files")
class ScheduleFolderTest {

    @TempDir
    Path dir;

    private final Schedules known = new Schedules();
    private final AtomicBoolean reachable = new AtomicBoolean(true);
    private final AtomicBoolean ready = new AtomicBoolean(true);
    private final ScheduleBook book = new ScheduleBook(
            known,
            (key, value) -> reachable.get(),
            new ScheduleLimits(3, Duration.ofSeconds(1)),
            Clock.fixed(Instant.parse("2026-11-23T12:00:00Z"), ZoneOffset.UTC));

    @Test
    @DisplayName("are defined, changed and removed with their files; those that were put otherwise stay")
    void shouldFollowFiles() throws Exception {
        // given
        book.put("default", "byHand", JsonObject.of(Map.of("cron", "@daily", "text", "go")));
        ScheduleFolder folder = folder();

        // when
        write("a.yaml", "schedules:\n  report: {cron: '0 9 * * 1-5', text: Sum up., sessionId: daily}\n");
        write("b.yaml", "namespace: acme\nschedules:\n  report: {cron: '@hourly', text: go}\n");
        folder.look();

        // then
        assertThat(names()).containsExactly("acme/report", "default/byHand", "default/report");
        assertThat(known.find("default", "report").orElseThrow().fields())
                .containsEntry("cron", "0 9 * * 1-5")
                .containsEntry("sessionId", "daily");

        // when
        write("a.yaml", "schedules:\n  other: {cron: '@daily', text: go}\n");
        Files.delete(dir.resolve("b.yaml"));
        folder.look();

        // then
        assertThat(names()).containsExactly("default/byHand", "default/other");
    }

    @Test
    @DisplayName("of a file that is no good, and each that is no good, stay as they were")
    void shouldKeepWhatWasGood() throws Exception {
        // given
        ScheduleFolder folder = folder();
        write("a.yaml", "schedules:\n  one: {cron: '@daily', text: go}\n  two: {cron: '@daily', text: go}\n");
        folder.look();

        // when
        write("a.yaml", "schedules:\n  one: {cron: 'never', text: go}\n  two: {cron: '@hourly', text: go}\n");
        folder.look();

        // then
        assertThat(known.find("default", "one").orElseThrow().timing().cron()).isEqualTo("@daily");
        assertThat(known.find("default", "two").orElseThrow().timing().cron()).isEqualTo("@hourly");

        // when
        write("a.yaml", "schedules: [");
        folder.look();

        // then
        assertThat(names()).containsExactly("default/one", "default/two");
    }

    @Test
    @DisplayName("count once the others are known, and again when the brokers are back")
    void shouldWaitForTheBrokers() throws Exception {
        // given
        ScheduleFolder folder = folder();
        write("a.yaml", "schedules:\n  one: {cron: '@daily', text: go}\n");
        ready.set(false);

        // when
        folder.look();

        // then
        assertThat(names()).isEmpty();

        // when
        ready.set(true);
        reachable.set(false);
        folder.look();
        reachable.set(true);
        folder.look();

        // then
        assertThat(names()).containsExactly("default/one");

        // when
        write("a.yaml", "schedules: {}\n");
        reachable.set(false);
        folder.look();
        assertThat(names()).containsExactly("default/one");
        reachable.set(true);
        folder.look();

        // then
        assertThat(names()).isEmpty();
    }

    private ScheduleFolder folder() {
        return new ScheduleFolder(dir, book, ready::get, Duration.ofSeconds(1));
    }

    private void write(String file, String text) throws Exception {
        Files.writeString(dir.resolve(file), text);
    }

    private List<String> names() {
        return known.all().stream().map(Schedule::key).toList();
    }
}
