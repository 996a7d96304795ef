package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SeenEventsTest {

    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final Duration RETENTION = Duration.ofHours(24);

    @TempDir
    Path state;

    private TestMachine machine;
    private SeenEvents seen;

    @BeforeEach
    void open() {
        machine = new TestMachine(state, new AdmissionSettings(5, AdmissionSettings.Policy.QUEUE));
        seen = new SeenEvents(machine.driver.getWindowStore(TaskStores.SEEN), RETENTION, key -> false);
    }

    @AfterEach
    void close() {
        machine.close();
    }

    @Test
    void shouldKnowWhatHasCome() {
        seen.add(message("m1"), NOW);

        assertThat(seen.before(message("m1"), NOW.plus(Duration.ofHours(23)))).isEqualTo(SeenEvents.Before.SEEN);
        assertThat(seen.before(message("m2"), NOW)).isEqualTo(SeenEvents.Before.NEVER);
        assertThat(seen.before(message("m1"), NOW.plus(Duration.ofHours(25)))).isEqualTo(SeenEvents.Before.NEVER);
    }

    @Test
    @DisplayName("an id that an instance kept whose clock is ahead is known to the next one, and can be removed by it")
    void shouldKnowWhatCameByAClockThatIsAhead() {
        seen.add(message("m1"), NOW.plus(Duration.ofMinutes(10)));

        assertThat(seen.before(message("m1"), NOW)).isEqualTo(SeenEvents.Before.SEEN);
        seen.remove(message("m1"), NOW);
        assertThat(seen.before(message("m1"), NOW)).isEqualTo(SeenEvents.Before.NEVER);
    }

    private static Event message(String id) {
        return Event.root(id, KnownEventType.MESSAGE_RECEIVED, NOW)
                .source("user")
                .payload(new Payload.MessageReceived("hi", null, List.of(), List.of(), null, null, null, null, null))
                .build();
    }
}
