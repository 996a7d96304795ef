package dev.millrace.agent.core;

import static dev.millrace.agent.core.TaskBuilder.aTask;
import static dev.millrace.agent.core.TaskBuilder.asking;
import static dev.millrace.agent.core.TaskBuilder.goingOn;
import static dev.millrace.agent.core.TaskBuilder.suspended;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.core.Children.Child;
import dev.millrace.agent.core.TaskState.Absent;
import dev.millrace.agent.core.TaskState.Question;
import dev.millrace.agent.core.TaskState.Suspended;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Limits that make no sense are refused with their key; what is used and set aside adds up. */
class LimitsTest {

    @ParameterizedTest
    @CsvSource({
        "0, 1, 1, 1, 1, 1, 1, max-iterations",
        "1, 0, 1, 1, 1, 1, 1, max-tool-calls-per-step",
        "1, 1, 0, 1, 1, 1, 1, max-transcript-chars",
        "1, 1, 1, 0, 1, 1, 1, max-tokens",
        "1, 1, 1, 1, 0, 1, 1, max-cost-micros",
        "1, 1, 1, 1, 1, 0, 1, max-life-time",
        "1, 1, 1, 1, 1, 1, 0, max-causal-depth"
    })
    void shouldNameTheLimitOfATaskThatIsNone(
            int iterations, int calls, long chars, long tokens, long cost, long lifeMs, int depth, String key) {
        assertThatThrownBy(() -> new TaskLimits(iterations, calls, chars, tokens, cost, lifeMs, depth))
                .hasMessage("millrace.agent.task." + key + ": expected 1 or more, found 0");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 1, 1, 1, session.max-tokens",
        "1, 0, 1, 1, session.max-cost-micros",
        "1, 1, 0, 1, task.model-call-timeout",
        "1, 1, 1, 0, task.tool-call-grace"
    })
    void shouldNameTheLimitOfTheMachineThatIsNone(long tokens, long cost, long timeoutMs, long graceMs, String key) {
        assertThatThrownBy(() -> new MachineLimits(TaskLimits.DEFAULT, tokens, cost, timeoutMs, graceMs))
                .hasMessage("millrace.agent." + key + ": expected 1 or more, found 0");
    }

    @Test
    void shouldSetAsideWhatChildrenMayUse() {
        Children children = new Children(
                List.of(
                        new Child("a", "c1", false, 10, 1),
                        new Child("b", "c2", true, TaskLimits.NONE, 20),
                        new Child("c", "c3", false, 300, TaskLimits.NONE)),
                List.of());

        assertThat(children.tokens()).isEqualTo(310);
        assertThat(children.costMicros()).isEqualTo(21);
    }

    @Test
    void shouldTellWhatWasUsedSince() {
        assertThat(new Usage(7, 5, 9).minus(new Usage(3, 4, 2))).isEqualTo(new Usage(4, 1, 7));
        assertThat(new Usage(1, 1, 1).minus(new Usage(2, 2, 2))).isEqualTo(Usage.NONE);
    }

    @Test
    void shouldHaveNothingWhereThereIsNoTask() {
        Absent absent = new Absent();

        assertThat(absent.holdsPlace()).isFalse();
        assertThat(absent.holdsSession()).isFalse();
        assertThat(absent.wantsAdmission()).isFalse();
        assertThat(absent.awaitsAnswer()).isFalse();
    }

    @Test
    void shouldAwaitAnAnswerUntilItHasCome() {
        Suspended asked = asking(aTask().reasoning("m1"), new Question("Which?", null, List.of()));

        assertThat(asked.awaitsAnswer()).isTrue();
        assertThat(goingOn(asked, "this one").awaitsAnswer()).isFalse();
        assertThat(suspended(aTask().reasoning("m1")).awaitsAnswer()).isFalse();
        assertThat(aTask().reasoning("m1").awaitsAnswer()).isFalse();
    }

    @Test
    void shouldSayWhatAStepIs() {
        assertThat(TaskBuilder.open(0, "c1", "search").description()).isEqualTo("Call tool: search");
        assertThat(TaskBuilder.response("hello").description()).isEqualTo("Respond to the user");
    }
}
