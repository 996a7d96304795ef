package dev.millrace.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LongWorkloadTest {

    @Test
    @DisplayName("steps that come with one commit take their part of it")
    void shouldDivideACommitAmongItsSteps() {
        List<List<Long>> tasks = List.of(List.of(100L, 100L, 100L, 130L), List.of(50L, 60L, 60L, 100L));

        assertThat(LongWorkload.msPerStep(tasks, 0, 3)).isEqualTo(13.33);
        assertThat(LongWorkload.msPerStep(tasks, 1, 2)).isZero();
    }

    @Test
    @DisplayName("a task in which the machine paused says nothing of the others")
    void shouldTakeTheMedianOfTheTasks() {
        List<List<Long>> tasks = List.of(List.of(0L, 10L, 20L), List.of(0L, 500L, 1_000L), List.of(0L, 12L, 24L));

        assertThat(LongWorkload.msPerStep(tasks, 0, 2)).isEqualTo(12);
    }
}
