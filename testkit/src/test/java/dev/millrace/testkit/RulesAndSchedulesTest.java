package dev.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(MillraceTest.class)
class RulesAndSchedulesTest {

    private static final String ORDERS = """
        rules:
          orders:
            on: order.placed
            priority: 60
            filter: { payload.country: IT }
            agent: { name: general, prompt: "Look at {{payload.id}}" }
          files:
            on: file.changed
            priority: 60
            debounce: { quiet: 10s, key: "{{payload.path}}" }
            agent: { name: general, prompt: "Read {{payload.path}} of {{payload.size}}" }
        """;
    private static final String DAILY = """
        schedules:
          report: { cron: "0 9 * * *", sessionId: shop, text: Report }
          once: { at: "2026-01-01T12:00:00Z", text: Once }
        """;

    @BeforeEach
    void session(TestMillrace millrace) {
        millrace.model().whenUser("^(Look|Read|Report|Once|Hello)").says("{{user}}.");
        millrace.start("general", "Hello", "shop");
    }

    @Test
    @DisplayName(
            "an event starts the task that its rule says; what its filter leaves is for the rules of Millrace itself")
    void shouldFollowARule(TestMillrace millrace) {
        millrace.rules(ORDERS);
        millrace.happens("order.placed", "shop", Map.of("id", "o-7", "country", "IT"));
        assertThat(millrace.tasks()).hasSize(2);
        assertThat(millrace.tasks().getLast()).completedWith("Look at o-7.");

        millrace.happens("order.placed", "shop", Map.of("id", "o-8", "country", "AT"));
        assertThat(millrace.tasks()).hasSize(3);
        assertThat(millrace.tasks().getLast().response().orElseThrow()).contains("Process event: order.placed");
    }

    @Test
    @DisplayName("with debounce, the last event starts a task as soon as it has been quiet, over a restart too")
    void shouldWaitUntilItIsQuiet(TestMillrace millrace) {
        // given
        millrace.rules(ORDERS);
        millrace.happens("file.changed", "shop", Map.of("path", "a", "size", 1));
        millrace.advance(Duration.ofSeconds(8));
        millrace.happens("file.changed", "shop", Map.of("path", "a", "size", 2));
        millrace.restart();

        // when
        millrace.advance(Duration.ofSeconds(8));
        assertThat(millrace.tasks()).hasSize(1);
        millrace.advance(Duration.ofSeconds(3));

        // then
        assertThat(millrace.tasks()).hasSize(2);
        assertThat(millrace.tasks().getLast()).completedWith("Read a of 2.");
    }

    @Test
    @DisplayName("schedules start their tasks while time jumps, each moment once")
    void shouldFollowTheClock(TestMillrace millrace) {
        // given: it is midnight
        millrace.schedules(DAILY);

        // when
        millrace.advance(Duration.ofHours(9).minusSeconds(1));
        assertThat(millrace.tasks()).hasSize(1);
        millrace.advance(Duration.ofSeconds(2));
        millrace.restart();
        millrace.advance(Duration.ofDays(2));

        // then: at 9, at 12, and at 9 of the two days that follow
        assertThat(millrace.tasks().stream().skip(1).map(task -> task.response().orElseThrow()))
                .containsExactly("Report.", "Once.", "Report.", "Report.");
        assertThat(millrace.tasks().get(2).events().getFirst().timestamp())
                .isBetween(
                        TestMillrace.START.plus(Duration.ofHours(12)), TestMillrace.START.plusSeconds(12 * 3600 + 1));
        assertThat(millrace.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName("await ends although schedules go on for ever, and they fire on the way")
    void shouldEndToAwait(TestMillrace millrace) {
        // given
        millrace.schedules(DAILY);
        millrace.model().whenUser("colour").asks("Which one?");

        // when
        TestTask task = millrace.start("general", "colour").await();

        // then: a task may take a week
        assertThat(task).failedWith("task_timeout");
        assertThat(millrace.tasks().stream().filter(one -> one.response().equals(Optional.of("Report."))))
                .hasSize(7);
    }

    @Test
    @DisplayName("files are those that ./millrace up would have; what is no good says why")
    void shouldReadFolders(TestMillrace millrace, @TempDir Path folder) throws IOException {
        Path rules = Files.createDirectory(folder.resolve("rules"));
        Path schedules = Files.createDirectory(folder.resolve("schedules"));
        assertThatThrownBy(() -> millrace.rules(rules)).hasMessageContaining("expected files *.yaml");
        Files.writeString(rules.resolve("orders.yaml"), ORDERS);
        Files.writeString(schedules.resolve("daily.yaml"), DAILY);

        millrace.rules(rules).schedules(schedules);
        millrace.happens("order.placed", "shop", Map.of("id", "o-7", "country", "IT"));
        millrace.advance(Duration.ofHours(10));

        assertThat(millrace.tasks()).hasSize(3);
        assertThatThrownBy(() -> millrace.rules("rules:\n  x: {on: order.placed}\n"))
                .hasMessageContaining("x")
                .hasMessageContaining("expected");
        assertThatThrownBy(() -> millrace.schedules("schedules:\n  x: {cron: daily, text: t}\n"))
                .hasMessageContaining("schedules.x")
                .hasMessageContaining("expected");
    }
}
