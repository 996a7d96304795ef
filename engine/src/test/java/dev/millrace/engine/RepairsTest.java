package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.processor.TaskId;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RepairsTest {

    @TempDir
    Path temp;

    @Test
    @DisplayName("deletes the state of the task that failed, and gives up when that has not helped three times")
    void shouldGiveUpWhatFailsAgainAndAgain() throws Exception {
        // given
        LocalState state = new LocalState(temp, "machine");
        StreamsException damage = new ProcessorStateException("Error opening store timers");
        damage.setTaskId(new TaskId(0, 1));
        Path damaged = state.folder(new TaskId(0, 1));
        Repairs repairs = new Repairs();
        List<String> waitedFor = new ArrayList<>();

        // when // then
        for (int i = 0; i < 3; i++) {
            Files.createDirectories(damaged);
            assertThat(repairs.repair(state, damage, waitedFor::add)).isTrue();
            assertThat(damaged).doesNotExist();
        }
        Files.createDirectories(damaged);
        assertThat(repairs.repair(state, damage, waitedFor::add)).isFalse();
        assertThat(damaged).exists();
        assertThat(waitedFor).isEmpty();
    }

    @Test
    @DisplayName("a full disk is waited for, and does not count")
    void shouldWaitForAFullDisk() throws Exception {
        LocalState state = new LocalState(temp, "machine");
        List<String> waitedFor = new ArrayList<>();

        boolean worthAnotherStart = new Repairs()
                .repair(state, new ProcessorStateException("flush: No space left on device"), waitedFor::add);

        assertThat(worthAnotherStart).isTrue();
        assertThat(waitedFor).containsExactly("room on the disk of " + temp);
    }
}
