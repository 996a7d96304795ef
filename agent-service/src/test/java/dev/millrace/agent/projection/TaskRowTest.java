package dev.millrace.agent.projection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.projection.TaskView.Usage;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.KnownEventType;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TaskRowTest {

    @Test
    void shouldShowTheAnswerOfACompletedTask() {
        // given
        List<Event> history = Histories.startedBy("m1").created().answered().events();

        // when
        TaskView view = view(history);

        // then
        assertThat(view)
                .isEqualTo(new TaskView(
                        "m1",
                        "default",
                        null,
                        "explore",
                        "completed",
                        "What time is it?",
                        "user",
                        100,
                        Histories.START.toEpochMilli(),
                        Histories.START.toEpochMilli() + 10L * (history.size() - 1),
                        2,
                        "Noon.",
                        null,
                        null,
                        null,
                        new Usage(250, 30),
                        3,
                        "3:0",
                        "3:" + (history.size() - 1)));
    }

    @Test
    void shouldBeNoTaskBeforeItsCreationIsTold() {
        // when
        TaskRow row = after(Histories.startedBy("m1").events());

        // then
        assertThat(row.view()).isNull();
    }

    @Test
    void shouldBeIdleOnceCreated() {
        // when
        TaskView view = view(Histories.startedBy("m1")
                .then(KnownEventType.TASK_CREATED, Map.of("inputText", "x", "taskType", "plan"))
                .events());

        // then
        assertThat(view.state()).isEqualTo("idle");
    }

    @Test
    void shouldSumTheTokensOfARunningTask() {
        // when
        TaskView view = view(Histories.startedBy("m1")
                .created()
                .then(KnownEventType.REASON_DONE, Map.of("usage", Map.of("inputTokens", 7, "outputTokens", 3)))
                .then(KnownEventType.NEED_MORE_INFO, Map.of("usage", Map.of("inputTokens", 5), "question", "Where?"))
                .events());

        // then
        assertThat(view.usage()).isEqualTo(new Usage(12, 3));
    }

    @Test
    void shouldAskWhileSuspendedAndForgetTheQuestionWhenItGoesOn() {
        // given
        Histories suspended = Histories.startedBy("m1")
                .created()
                .then(KnownEventType.NEED_MORE_INFO, Map.of("question", "Where?"))
                .moved("reasoning", "suspended")
                .then(KnownEventType.TASK_SUSPENDED, Map.of("question", "Where?"));
        TaskView asking = view(suspended.events());

        // when
        TaskView goingOn = view(suspended
                .then(KnownEventType.MESSAGE_RECEIVED, Map.of("text", "Here"))
                .moved("suspended", "reasoning")
                .events());

        // then
        assertThat(asking.question()).isEqualTo("Where?");
        assertThat(asking.state()).isEqualTo("suspended");
        assertThat(goingOn.question()).isNull();
        assertThat(goingOn.state()).isEqualTo("reasoning");
    }

    @Test
    void shouldSayWhyATaskFailedOrWasCancelled() {
        // when
        TaskView failed = view(Histories.startedBy("m1")
                .created()
                .moved("reasoning", "failed")
                .then(
                        KnownEventType.TASK_FAILED,
                        Map.of("error", "too many", "code", "max_iterations", "iterations", 10))
                .events());
        TaskView cancelled = view(Histories.startedBy("m2")
                .created()
                .then(KnownEventType.TASK_CANCELLED, Map.of("reason", "changed my mind"))
                .events());

        // then
        assertThat(failed.state()).isEqualTo("failed");
        assertThat(failed.error()).isEqualTo("too many");
        assertThat(failed.errorCode()).isEqualTo("max_iterations");
        assertThat(failed.iterations()).isEqualTo(10);
        assertThat(cancelled.state()).isEqualTo("cancelled");
        assertThat(cancelled.error()).isEqualTo("changed my mind");
    }

    @Test
    void shouldForgetTheAnswerWhenACompletedTaskGoesOn() {
        // when
        TaskView view = view(Histories.startedBy("m1")
                .created()
                .answered()
                .then(KnownEventType.TASK_RESUMED, Map.of("newInput", "And now?"))
                .moved("completed", "reasoning")
                .events());

        // then
        assertThat(view.response()).isNull();
        assertThat(view.state()).isEqualTo("reasoning");
    }

    @Test
    void shouldNotChangeWhenAnEventComesAgain() {
        // given
        List<Event> history = Histories.startedBy("m1").created().answered().events();
        TaskRow row = after(history);

        // when
        TaskRow again = row;
        for (int offset = 3; offset < history.size(); offset++) {
            again = TaskRow.after(again, entry(history.get(offset), offset), 2);
        }

        // then
        assertThat(again).isEqualTo(row);
    }

    @Test
    void shouldCutLongInputAtTheLimit() {
        // when
        TaskView atLimit = view(started("x".repeat(TaskRow.MAX_INPUT)));
        TaskView longer = view(started("x".repeat(TaskRow.MAX_INPUT) + "y"));

        // then
        assertThat(atLimit.inputText()).hasSize(TaskRow.MAX_INPUT);
        assertThat(longer.inputText()).isEqualTo("x".repeat(TaskRow.MAX_INPUT));
    }

    @Test
    void shouldReadWhatItWrote() {
        // given
        TaskRow row = after(Histories.startedBy("m1", Histories.START, "s1", "acme")
                .created()
                .then(KnownEventType.NEED_MORE_INFO, Map.of("question", "Where?"))
                .events());

        // when
        TaskRow read = TaskRow.fromJson(row.toJson());

        // then
        assertThat(read).isEqualTo(row);
    }

    private static List<Event> started(String text) {
        return Histories.startedBy("m1")
                .then(KnownEventType.TASK_CREATED, Map.of("inputText", text))
                .events();
    }

    private static TaskView view(List<Event> history) {
        return Objects.requireNonNull(after(history).view());
    }

    private static TaskRow after(List<Event> history) {
        @Nullable TaskRow row = null;
        for (int offset = 0; offset < history.size(); offset++) {
            row = TaskRow.after(row, entry(history.get(offset), offset), 1);
        }
        return Objects.requireNonNull(row);
    }

    private static JournalEntry entry(Event event, long offset) {
        return new JournalEntry(new JournalCursor(3, offset), event);
    }
}
