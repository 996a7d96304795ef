package dev.millrace.agent.core;

import static dev.millrace.agent.core.TaskBuilder.aTask;
import static dev.millrace.agent.core.TaskBuilder.goingOn;
import static dev.millrace.agent.core.TaskBuilder.open;
import static dev.millrace.agent.core.TaskBuilder.suspended;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.core.ContextWindow.Rules;
import dev.millrace.agent.core.ContextWindow.Turn;
import dev.millrace.agent.core.TaskState.Compacting;
import dev.millrace.agent.core.TaskState.Failed;
import dev.millrace.agent.core.TaskState.Reasoning;
import dev.millrace.agent.core.TaskState.Suspended;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.Call;
import dev.millrace.agent.core.TranscriptEntry.Summary;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** SPEC C.7: a conversation that is about to fill the window is summed up first, and goes on from the summary. */
class TaskFsmCompactionTest {

    private static final TaskFsm FSM = new TaskFsm(MachineLimits.DEFAULT);
    private static final Summary SUMMARY = new Summary("They talked", "Hi");

    private static TaskBuilder crowded() {
        return aTask().iteration(1).transcript(6, 40).crowded();
    }

    @Test
    @DisplayName("F-179: past four fifths of the window, the older part is summed up by a model call of its own")
    void shouldAskForSummaryBeforeTheNextCall() {
        Transition transition =
                FSM.transition(crowded().acting(open(0, "c1", "search")), TaskEvents.returned("c1", "{}"));

        String callId = "t1/2/summary-7-" + TaskEvents.EVENT_HASH;
        assertThat(transition.next()).isInstanceOfSatisfying(Compacting.class, compacting -> {
            assertThat(compacting.awaiting()).isEqualTo(callId);
            assertThat(compacting.context().iteration()).isEqualTo(1);
            assertThat(compacting.cut().seq()).isEqualTo(5); // what follows fits into a fifth of the window
        });
        assertThat(transition.effects()).endsWith(new Effect.Summarise(callId, 2, 5));
        assertThat(transition.next().label()).isEqualTo("reasoning");
        assertThat(transition.next().holdsPlace()).isTrue();
    }

    @Test
    @DisplayName(
            "F-179: the summary stands for what was before the cut; the next call is of the iteration that was due")
    void shouldCallTheModelWithTheSummary() {
        Transition transition = FSM.transition(crowded().compacting("m1"), TaskEvents.summarised("m1"));

        String callId = "t1/2/0-7-" + TaskEvents.EVENT_HASH;
        assertThat(transition.next()).isInstanceOfSatisfying(Reasoning.class, reasoning -> {
            TaskContext context = reasoning.context();
            assertThat(context.iteration()).isEqualTo(2);
            assertThat(context.usage()).isEqualTo(TaskEvents.USAGE);
            assertThat(context.transcriptLength()).isEqualTo(7);
            assertThat(context.transcriptChars()).isEqualTo(40 - 20 + SUMMARY.chars());
            assertThat(context.window().summarySeq()).isEqualTo(6);
            assertThat(context.window().keptFrom()).isEqualTo(3);
            assertThat(context.window().estimate()).isEqualTo(300 + SUMMARY.tokens());
            assertThat(context.window().nextPromptTokens()).isEqualTo(850 - 500 + SUMMARY.tokens());
        });
        assertThat(transition.effects())
                .containsExactly(
                        new Effect.SettleModelCall("m1"),
                        new Effect.Append(6, List.of(SUMMARY)),
                        new Effect.CallModel(callId, 2));
    }

    @Test
    @DisplayName("F-179: what the task is to do is repeated word for word only if the cut hides it")
    void shouldRepeatTheRequestIfItIsCutOff() {
        Transition transition = FSM.transition(crowded().input(4).compacting("m1"), TaskEvents.summarised("m1"));

        assertThat(transition.effects()).contains(new Effect.Append(6, List.of(new Summary("They talked", null))));
    }

    @Test
    @DisplayName("F-179: the tokens of the summary count: a budget that they use up ends the task")
    void shouldCountTheUsageOfTheSummary() {
        TaskState state = TaskBuilder.limited(
                crowded().used(600, 390).compacting("m1"), TaskBuilder.limits(10, 10, 100_000, 1_000));

        Transition transition = FSM.transition(state, TaskEvents.summarised("m1"));

        assertThat(transition.next()).isInstanceOfSatisfying(Failed.class, failed -> {
            assertThat(failed.error().code()).isEqualTo("token_limit");
            assertThat(failed.context().iteration()).isEqualTo(1);
        });
    }

    @Test
    @DisplayName(
            "a conversation that the provider finds too long is compacted once, then it fails with the provider's words")
    void shouldCompactOnceAfterAnOverflow() {
        // given
        Transition overflow = FSM.transition(crowded().reasoning("m1"), TaskEvents.overflowed("m1"));
        assertThat(overflow.next())
                .isInstanceOfSatisfying(
                        Compacting.class,
                        compacting ->
                                assertThat(compacting.context().iteration()).isZero());
        assertThat(overflow.effects())
                .containsExactly(
                        new Effect.SettleModelCall("m1"),
                        new Effect.Summarise("t1/1/summary-6-" + TaskEvents.EVENT_HASH, 1, 5));

        // when
        Transition again =
                FSM.transition(overflow.next(), TaskEvents.summarised("t1/1/summary-6-" + TaskEvents.EVENT_HASH));
        Transition twice = FSM.transition(again.next(), TaskEvents.overflowed("t1/1/0-7-" + TaskEvents.EVENT_HASH));

        // then
        assertThat(again.next())
                .isInstanceOfSatisfying(
                        Reasoning.class,
                        reasoning -> assertThat(reasoning.context().iteration()).isEqualTo(1));
        assertThat(twice.next())
                .isInstanceOfSatisfying(
                        Failed.class, failed -> assertThat(failed.error()).isEqualTo(TaskEvents.TOO_LONG));
    }

    @Test
    @DisplayName("a first message that is too long by itself cannot be made shorter: it fails at once")
    void shouldFailIfThereIsNothingToCut() {
        assertThat(FSM.transition(aTask().reasoningAt(1), TaskEvents.overflowed("m1"))
                        .next())
                .isInstanceOf(Failed.class);
    }

    @Test
    @DisplayName("a summary that fails fails the task, with its code and in words that say what failed")
    void shouldFailWithTheSummary() {
        assertThat(FSM.transition(crowded().compacting("m1"), TaskEvents.modelFailed("m1"))
                        .next())
                .isInstanceOfSatisfying(Failed.class, failed -> {
                    assertThat(failed.error().code()).isEqualTo(TaskEvents.ERROR.code());
                    assertThat(failed.error().message()).contains("summed up", TaskEvents.ERROR.message());
                });
    }

    @Test
    @DisplayName(
            "X-09: a summary that comes while the task is suspended is taken, and the model is called when it goes on")
    void shouldTakeTheSummaryWhileSuspended() {
        // when
        Transition taken = FSM.transition(suspended(crowded().compacting("m1")), TaskEvents.summarised("m1"));
        Transition doubled = FSM.transition(taken.next(), TaskEvents.summarised("m1"));
        Transition on = FSM.transition(goingOn((Suspended) taken.next()), TaskEvents.admitted());

        // then
        assertThat(taken.next()).isInstanceOf(Suspended.class);
        assertThat(taken.effects())
                .containsExactly(new Effect.SettleModelCall("m1"), new Effect.Append(6, List.of(SUMMARY)));
        assertThat(doubled.accepted()).isFalse();
        assertThat(on.next()).isInstanceOf(Reasoning.class);
        assertThat(on.effects()).containsExactly(new Effect.CallModel("t1/2/0-7-" + TaskEvents.EVENT_HASH, 2));
    }

    @Test
    @DisplayName("an overflow that comes while the task is suspended is seen to when it goes on")
    void shouldCompactWhenItGoesOn() {
        // when
        Transition failed = FSM.transition(suspended(crowded().reasoning("m1")), TaskEvents.overflowed("m1"));
        Transition on = FSM.transition(goingOn((Suspended) failed.next()), TaskEvents.admitted());

        // then
        assertThat(failed.effects()).containsExactly(new Effect.SettleModelCall("m1"));
        assertThat(on.next()).isInstanceOf(Compacting.class);
        assertThat(on.effects()).containsExactly(new Effect.Summarise("t1/1/summary-6-" + TaskEvents.EVENT_HASH, 1, 5));
    }

    @Test
    @DisplayName("what is said to a task while it waits for a summary makes the summary stale")
    void shouldGoOnWithWhatWasSaid() {
        Transition on =
                FSM.transition(goingOn(suspended(crowded().compacting("m1")), "Stop that"), TaskEvents.admitted());

        assertThat(on.effects())
                .startsWith(new Effect.SettleModelCall("m1"), new Effect.Append(6, List.of(new UserText("Stop that"))));
        assertThat(FSM.transition(on.next(), TaskEvents.summarised("m1")).accepted())
                .isFalse();
    }

    @Test
    @DisplayName("a summary has a deadline like any model call, and a cancel takes it back")
    void shouldEndWhileItWaits() {
        Compacting waiting = crowded().compacting("m1");

        assertThat(FSM.transition(waiting, TaskEvents.timePassed(TaskBuilder.MODEL_DEADLINE_MS))
                        .effects())
                .containsExactly(
                        new Effect.FollowUp(new Fact.ModelTimedOut("m1", MachineLimits.DEFAULT.modelCallTimeoutMs())));
        assertThat(FSM.transition(waiting, TaskEvents.cancel("enough")).effects())
                .startsWith(new Effect.SettleModelCall("m1"));
    }

    @Test
    @DisplayName("F-179: the next prompt is what was counted of the last one, and an estimate of what is new")
    void shouldEstimateWhatIsNew() {
        ContextWindow window = ContextWindow.EMPTY
                .appended(0, 0, List.of(new UserText("x".repeat(400))))
                .answered(5_000, 10_000L)
                .appended(1, 400, List.of(new UserText("y".repeat(4_000))));

        assertThat(window.nextPromptTokens()).isEqualTo(5_000 + 1_000 + TokenEstimate.PER_MESSAGE);
        assertThat(window.size()).isEqualTo(10_000);
        assertThat(window.answered(0, null).nextPromptTokens()).isEqualTo(window.nextPromptTokens());
    }

    @Test
    @DisplayName("F-180: a cut never comes between a tool call and its result")
    void shouldCutAtTurnsOnly() {
        ContextWindow window = ContextWindow.EMPTY
                .appended(0, 0, List.of(new UserText("Hi")))
                .appended(
                        1,
                        2,
                        List.of(
                                new AssistantTurn(null, List.of(new Call("a", "f", "{}"), new Call("b", "f", "{}"))),
                                new ToolResult("a", "f", "1", false),
                                new ToolResult("b", "f", "2", false),
                                new AssistantTurn("and", List.of(new Call("c", "f", "{}"))),
                                new ToolResult("c", "f", "3", false)));

        assertThat(window.turns()).extracting(Turn::seq).containsExactly(1, 4);
    }

    @Test
    @DisplayName("the limit of the transcript and compaction agree: it makes room before the limit is reached")
    void shouldCompactBeforeTheTranscriptLimit() {
        ContextWindow window = ContextWindow.EMPTY;
        int chars = 0;
        for (int seq = 0; seq < 9; seq++) {
            window = window.appended(seq, chars, List.of(new UserText("x".repeat(100))));
            chars += 100;
        }

        assertThat(window.due(Rules.DEFAULT, 800, 1_000)).isEmpty();
        assertThat(window.due(Rules.DEFAULT, 900, 1_000)).map(Turn::seq).contains(7);
    }

    @Test
    @DisplayName("a cut that makes no room is not made: it would be paid for at every call")
    void shouldNotCompactForNothing() {
        ContextWindow full = new ContextWindow(1_000, 900, 500, 500, null, List.of(new Turn(1, 40, 160)));

        assertThat(full.due(Rules.DEFAULT, 2_000, 4_000_000)).isEmpty();
        assertThat(full.overflowing(Rules.DEFAULT, 3)).isPresent();
    }

    @ParameterizedTest
    @CsvSource({"'', 0", "abcd, 1", "abcde, 2", "привет, 3", "你好, 2", "한국어, 3"})
    void shouldEstimateTokensInAnyScript(String text, long tokens) {
        assertThat(TokenEstimate.of(text)).isEqualTo(tokens);
    }

    @ParameterizedTest
    @CsvSource({"0, 0, threshold", "1.1, 0.2, threshold", "0.5, 0.6, kept", "0.5, -0.1, kept"})
    void shouldNameTheKeyOfRulesThatMakeNoSense(double threshold, double kept, String key) {
        assertThatThrownBy(() -> new Rules(threshold, kept))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("millrace.agent.compaction." + key);
    }
}
