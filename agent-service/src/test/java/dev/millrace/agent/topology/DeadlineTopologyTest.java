package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.MachineLimits;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.KnownEventType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** what is late, also when nobody was there for a while. */
class DeadlineTopologyTest {

    private static final Duration TICK = Duration.ofMillis(200);
    private static final Duration TIMEOUT = Duration.ofMillis(MachineLimits.DEFAULT.modelCallTimeoutMs());
    private static final AdmissionSettings ROOM = new AdmissionSettings(5, AdmissionSettings.Policy.QUEUE);

    @TempDir
    private Path folder;

    @Test
    @DisplayName("X-43: a model that never answers ends its task, and no other")
    void shouldFailAfterTheDeadline() {
        try (TestMachine machine = new TestMachine(folder, ROOM)) {
            machine.send(TestMachine.message("silent"));
            machine.driver.advanceWallClockTime(TIMEOUT.minus(TICK));
            machine.send(TestMachine.message("later"));
            assertThat(types(machine)).doesNotContain(KnownEventType.MODEL_CALL_FAILED);

            machine.driver.advanceWallClockTime(TICK);

            assertThat(machine.journal())
                    .filteredOn(event -> event.type() == KnownEventType.TASK_FAILED)
                    .singleElement()
                    .satisfies(failed -> {
                        assertThat(failed.taskId()).isEqualTo("silent");
                        assertThat(failed.text("code")).isEqualTo("timeout");
                    });
        }
    }

    @Test
    @DisplayName("X-17: a task whose call was out during a long outage goes on, and the call has its time once more")
    void shouldNotFailForAnOutage() {
        try (TestMachine before = new TestMachine(folder.resolve("before"), ROOM)) {
            before.send(TestMachine.message("patient"));
            try (TestMachine after = new TestMachine(
                    folder.resolve("after"), ROOM, 1, TestMachine.START.plus(TIMEOUT.multipliedBy(4)))) {
                after.inherit(before, TaskStores.TASKS);
                after.inherit(before, TaskStores.TIMERS);

                after.driver.advanceWallClockTime(TIMEOUT.minus(TICK));
                assertThat(types(after)).isEmpty();

                after.driver.advanceWallClockTime(TICK);
                assertThat(types(after)).contains(KnownEventType.MODEL_CALL_FAILED, KnownEventType.TASK_FAILED);
            }
        }
    }

    private static List<EventType> types(TestMachine machine) {
        return machine.journal().stream().map(Event::type).toList();
    }
}
