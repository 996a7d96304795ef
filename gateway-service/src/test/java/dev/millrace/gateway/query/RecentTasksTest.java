package dev.millrace.gateway.query;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
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
