package dev.millrace.gateway.query;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RecentTasksTest {
    private final SettableClock clock = new SettableClock();

    @Test
    void shouldForgetTheOldestWhenThereAreTooMany() {
        // given
        RecentTasks recent = new RecentTasks(2, clock);

        // when
        recent.add(task("a"));
        recent.add(task("b"));
        recent.add(task("c"));

        // then
        assertThat(recent.find("default", "a")).isEmpty();
        assertThat(recent.find("default", "b")).isPresent();
        assertThat(recent.find("default", "c")).isPresent();
        assertThat(recent.find("acme", "c")).isEmpty();
    }

    @Test
    void shouldForgetAfterTenMinutes() {
        // given
        RecentTasks recent = new RecentTasks(2, clock);
        recent.add(task("a"));

        // when
        clock.now = clock.now.plus(Duration.ofMinutes(10));
        boolean atLimit = recent.find("default", "a").isPresent();
        clock.now = clock.now.plusMillis(1);
        boolean later = recent.find("default", "a").isPresent();

        // then
        assertThat(atLimit).isTrue();
        assertThat(later).isFalse();
    }

    @Test
    void shouldRememberNothingWhenToldSo() {
        // given
        RecentTasks recent = new RecentTasks(0, clock);

        // when
        recent.add(task("a"));

        // then
        assertThat(recent.find("default", "a")).isEmpty();
    }

    @Test
    void shouldRememberLargeTasksInOutline() {
        // given
        RecentTasks recent = new RecentTasks(2, clock);
        Event large = task("a").toBuilder()
                .sessionId("s")
                .payload(Map.of(
                        "text",
                        "x".repeat(100_000),
                        "taskType",
                        "general",
                        "callbackUrl",
                        "https://example.org/hook",
                        "metadata",
                        Map.of("blob", "y".repeat(900_000))))
                .build();

        // when
        recent.add(large);

        // then
        Event found = recent.find("default", "a").orElseThrow();
        assertThat(RecentTasks.view(found, 0)).isEqualTo(RecentTasks.view(large, 0));
        assertThat(found.sessionKey()).isEqualTo(large.sessionKey());
        assertThat(Json.write(found.fields())).hasSizeLessThan(1_000);
    }

    @Test
    void shouldShowWhatWasSaidUnderItsOtherName() {
        // given
        RecentTasks recent = new RecentTasks(2, clock);
        Event message =
                task("a").toBuilder().payload(Map.of("content", "Hello")).build();

        // when
        recent.add(message);

        // then
        assertThat(RecentTasks.view(message, 0).task().inputText()).isEqualTo("Hello");
        assertThat(RecentTasks.view(recent.find("default", "a").orElseThrow(), 0))
                .isEqualTo(RecentTasks.view(message, 0));
    }

    @Test
    void shouldForgetTheOldestWhenTheyTakeTooMuchMemory() {
        // given
        RecentTasks recent = new RecentTasks(1_000_000, clock);
        String url = "https://example.org/" + "z".repeat(1_900);

        // when
        for (int i = 0; i < 5_000; i++) {
            recent.add(task("t" + i).toBuilder()
                    .payload(Map.of("text", "x".repeat(500), "callbackUrl", url))
                    .build());
        }

        // then
        assertThat(recent.find("default", "t4999")).isPresent();
        assertThat(recent.find("default", "t0")).isEmpty();
        assertThat(IntStream.range(0, 5_000)
                        .filter(i -> recent.find("default", "t" + i).isPresent())
                        .count())
                .isBetween(2_000L, RecentTasks.MAX_BYTES / 4_800);
    }

    private static Event task(String id) {
        return Event.root(id, KnownEventType.MESSAGE_RECEIVED, Instant.EPOCH).build();
    }

    private static final class SettableClock extends Clock {
        private Instant now = Instant.parse("2026-01-01T00:00:00Z");

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return now;
        }
    }
}
