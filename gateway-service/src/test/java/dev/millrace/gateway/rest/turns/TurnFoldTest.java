package dev.millrace.gateway.rest.turns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.StreamType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class TurnFoldTest {
    private static final String TASK = "task-1";

    private final List<TurnPart> told = new ArrayList<>();

    @Test
    @DisplayName("with live text or without, a turn has the same parts; a text only comes in more pieces")
    void shouldTellTheSameWithoutLiveText() throws Exception {
        // given
        Event words = live(StreamType.TEXT, "c1", 1, "I will ");
        Event more = live(StreamType.TEXT, "c1", 1, "look.");
        List<Event> facts = List.of(
                message("m1"),
                requested("c1"),
                toolEnded("t0"),
                done("c1", "I will look.", true),
                toolBegan("t1"),
                toolEnded("t1"),
                requested("c2"),
                done("c2", "Done.", false),
                completed("Done."));

        // when
        List<TurnPart> withText = fold("m1", List.of(facts.get(0), words, facts.get(1), facts.get(2), more), facts, 3);
        List<TurnPart> without = fold("m1", List.of(), facts, 0);

        // then
        assertThat(withText)
                .filteredOn(part -> !(part instanceof TurnPart.Words))
                .isEqualTo(without.stream()
                        .filter(part -> !(part instanceof TurnPart.Words))
                        .toList());
        assertThat(withText)
                .filteredOn(TurnPart.Words.class::isInstance)
                .extracting(part -> ((TurnPart.Words) part).delta())
                .containsExactly("I will ", "look.", "Done.");
        assertThat(without.getLast())
                .isInstanceOfSatisfying(
                        TurnPart.Over.class,
                        over -> assertThat(over.end()).isEqualTo(new TurnEnd.Answered("Done.", "stop")));
    }

    @Test
    @DisplayName("words of an attempt that was given up are withdrawn")
    void shouldWithdrawWhatDoesNotCount() throws Exception {
        // when
        List<TurnPart> parts = fold(
                "m1",
                List.of(
                        message("m1"),
                        requested("c1"),
                        live(StreamType.TEXT, "c1", 1, "Maybe"),
                        live(StreamType.TEXT, "c1", 2, "No"),
                        done("c1", "No.", false),
                        completed("No.")),
                List.of(),
                0);

        // then
        assertThat(parts.subList(1, 5))
                .containsExactly(
                        new TurnPart.Words(1, 1, 0, "Maybe"),
                        new TurnPart.Withdrawn(1, 1, "Maybe"),
                        new TurnPart.Words(1, 2, 0, "No"),
                        new TurnPart.Words(1, 2, 2, "."));
    }

    @Test
    @DisplayName("a turn is over once all calls that wait are asked about and no other one runs")
    void shouldEndWhereAPersonIsNeeded() throws Exception {
        // given
        List<Event> facts = List.of(
                message("m1"),
                requested("c1"),
                done("c1", null, true),
                waiting("a1", "a2"),
                toolBegan("t1"),
                approval("a1"),
                approval("a2"),
                toolEnded("t1"),
                decided("d1", "a1"),
                decided("d2", "a2"),
                waiting(),
                toolBegan("a1"));

        // when
        List<TurnPart> first = fold("m1", List.of(), facts, 0);
        List<TurnPart> second = fold("d1", List.of(), facts, 0);
        List<TurnPart> third = fold("d2", List.of(), facts, 0);

        // then
        assertThat(asked(first)).containsExactly("a1", "a2");
        assertThat(asked(second)).containsExactly("a2");
        assertThat(third.getLast()).isInstanceOf(TurnPart.ToolBegan.class);
    }

    @Test
    @DisplayName("a decision that comes after somebody else's is not taken, and the task is theirs")
    void shouldEndWhereSomebodyElseHasDecided() throws Exception {
        // given
        TurnFold late = new TurnFold(decided("late", "a1"), told::add);
        for (Event event : List.of(message("m1"), requested("c1"), done("c1", null, true), approval("a1"))) {
            late.take(event, false);
        }
        assertThat(late.over()).isFalse();

        // when
        late.take(decided("first", "a1"), false);

        // then
        assertThat(told)
                .singleElement()
                .isInstanceOfSatisfying(
                        TurnPart.Over.class, over -> assertThat(over.end()).isEqualTo(new TurnEnd.NotTaken(true)));
        assertThat(late.ownsTask()).isFalse();
    }

    @Test
    @DisplayName("an answer is not taken if the task asks again or ends without it; what was before it says nothing")
    void shouldEndWhereSomebodyElseHasAnswered() throws Exception {
        // given
        TurnFold late = new TurnFold(resumed("late"), told::add);
        for (Event event : List.of(message("m1"), suspended("s1"), resumed("before"), suspended("s2"))) {
            late.take(event, false);
        }
        assertThat(late.over()).isFalse();
        late.caughtUp();

        // when
        late.take(resumed("first"), false);
        late.take(requested("c1"), false);
        assertThat(late.over()).isFalse();
        late.take(completed("Done."), false);

        // then
        assertThat(told)
                .singleElement()
                .isInstanceOfSatisfying(
                        TurnPart.Over.class, over -> assertThat(over.end()).isEqualTo(new TurnEnd.NotTaken(true)));
    }

    @Test
    @DisplayName("a task that is cancelled before it takes an answer ends the turn as what it is")
    void shouldTellHowTheTaskHasEnded() throws Exception {
        TurnFold late = new TurnFold(decided("late", "a1"), told::add);
        late.take(message("m1"), false);
        late.take(approval("a1"), false);

        late.take(event("end", KnownEventType.TASK_CANCELLED, new Payload.TaskCancelled("by somebody")), false);

        assertThat(told)
                .singleElement()
                .isInstanceOfSatisfying(
                        TurnPart.Over.class,
                        over -> assertThat(over.end()).isEqualTo(new TurnEnd.Cancelled("by somebody")));
        assertThat(late.ownsTask()).isFalse();
    }

    @Test
    @DisplayName("the answer that is taken begins its turn, however late the journal tells of it")
    void shouldBeginWithTheAnswerThatIsTaken() throws Exception {
        TurnFold first = new TurnFold(resumed("first"), told::add);
        first.take(message("m1"), false);
        first.take(suspended("s1"), false);
        first.caughtUp();

        first.take(resumed("first"), false);
        first.take(completed("Done."), false);

        assertThat(first.ownsTask()).isTrue();
        assertThat(told.getLast())
                .isInstanceOfSatisfying(
                        TurnPart.Over.class, over -> assertThat(over.end()).isInstanceOf(TurnEnd.Answered.class));
    }

    private static List<String> asked(List<TurnPart> parts) {
        return parts.getLast() instanceof TurnPart.Over(long step, TurnEnd.NeedsApproval needs, Payload.Usage used)
                ? needs.calls().stream().map(Payload.ApprovalRequested::callId).toList()
                : List.of();
    }

    private List<TurnPart> fold(String begin, List<Event> first, List<Event> then, int from) throws Exception {
        told.clear();
        Event beginning = Stream.concat(first.stream(), then.stream())
                .filter(event -> event.id().equals(begin))
                .findFirst()
                .orElseThrow();
        TurnFold fold = new TurnFold(beginning, told::add);
        for (Event event : first) {
            fold.take(event, event.type() instanceof StreamType);
        }
        for (Event event : then.subList(from, then.size())) {
            fold.take(event, false);
        }
        return List.copyOf(told);
    }

    private static Event event(String id, EventType type, Payload payload) {
        return Event.root(id, type, Instant.EPOCH)
                .source("user")
                .taskId(TASK)
                .payload(payload)
                .build();
    }

    private static Event live(StreamType type, String callId, int attempt, String delta) {
        return Event.root("live-" + delta, type, Instant.EPOCH)
                .source("user")
                .taskId(TASK)
                .payload(new Payload.StreamDelta(callId, attempt, 1, delta))
                .build();
    }

    private static Event message(String id) {
        return event(
                id,
                KnownEventType.MESSAGE_RECEIVED,
                new Payload.MessageReceived("hi", null, List.of(), List.of(), null, null, null, null, null));
    }

    private static Event requested(String callId) {
        return event(
                "r-" + callId,
                KnownEventType.MODEL_CALL_REQUESTED,
                new Payload.ModelCallRequested(callId, 1, null, null));
    }

    private static Event done(String callId, @Nullable String text, boolean tools) {
        List<Payload.RequestedCall> calls =
                tools ? List.of(new Payload.RequestedCall("x", "tool", JsonObject.empty(), null)) : List.of();
        return event(
                "d-" + callId,
                KnownEventType.REASON_DONE,
                new Payload.ReasonDone(
                        callId, text, null, null, calls, List.of(), null, "stop", null, List.of(), null, null, null,
                        null, null));
    }

    private static Event waiting(String... calls) {
        return event(
                "w-" + calls.length,
                KnownEventType.TASK_STATE_CHANGED,
                new Payload.TaskStateChanged(
                        "reasoning",
                        "suspended",
                        "REASON_DONE",
                        "x",
                        new Payload.WaitingFor(calls.length == 0 ? "tools" : "approval", List.of(calls), null, null),
                        null));
    }

    private static Event toolBegan(String callId) {
        return event(
                "b-" + callId,
                KnownEventType.TOOL_CALL_REQUESTED,
                new Payload.ToolCallRequested(callId, "x", "tool", JsonObject.empty(), null, null, null));
    }

    private static Event toolEnded(String callId) {
        return event(
                "e-" + callId,
                KnownEventType.TOOL_CALL_COMPLETED,
                new Payload.ToolCallCompleted(callId, "tool", "result", null, null));
    }

    private static Event approval(String callId) {
        return event(
                "p-" + callId,
                KnownEventType.APPROVAL_REQUESTED,
                new Payload.ApprovalRequested(callId, "x", "tool", JsonObject.empty(), null, null, null));
    }

    private static Event decided(String id, String callId) {
        return event(
                id, KnownEventType.APPROVAL_DECIDED, new Payload.ApprovalDecided(callId, "approve", null, null, null));
    }

    private static Event resumed(String id) {
        return event(id, KnownEventType.TASK_RESUMED, new Payload.TaskResumed("answer", null));
    }

    private static Event suspended(String id) {
        return event(id, KnownEventType.TASK_SUSPENDED, new Payload.TaskSuspended("question", "Which one?"));
    }

    private static Event completed(String response) {
        return event(
                "end",
                KnownEventType.TASK_COMPLETED,
                new Payload.TaskCompleted(new Payload.Result(TASK, "hi", response, 1), null));
    }
}
