package dev.millrace.agent.thinker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.llm.ModelDelta;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.StreamType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CallStreamTest {
    private static final Instant NOW = Instant.ofEpochMilli(1_800_000_000_000L);

    private final List<Boolean> scheduled = new ArrayList<>();

    @Test
    @DisplayName("F-227, F-239 stream_event_published, stream_event_metadata: stream.start, then what comes, then"
            + " stream.completed, each of the session and from llm")
    void shouldTellStartPiecesAndEndInOrderAndNumbered() {
        // given
        CallStream stream = stream(0);

        // when
        stream.onAttempt(1);
        stream.onDelta(new ModelDelta.Reasoning("hm, "));
        stream.onDelta(new ModelDelta.Reasoning("well"));
        stream.onDelta(new ModelDelta.Text("Hel"));
        stream.onDelta(new ModelDelta.Text("lo"));
        stream.onDelta(new ModelDelta.ToolCall(0, "c1", "look", "{\"a\""));
        stream.onDelta(new ModelDelta.ToolCall(0, null, null, ":1}"));
        stream.onDelta(new ModelDelta.ToolCall(1, "c2", "look", ""));
        stream.ended(reply("stop"));

        // then
        List<Event> events = drain(stream);
        assertThat(said(events))
                .containsExactly(
                        "stream.start 1/0 general",
                        "stream.reasoning 1/1 hm, well",
                        "stream.text 1/2 Hello",
                        "stream.tool_call 1/3 0 c1 look {\"a\":1}",
                        "stream.tool_call 1/4 1 c2 look ",
                        "stream.completed 1/5 stop");
        assertThat(events).allSatisfy(event -> {
            assertThat(EventSchemas.problems(event)).isEmpty();
            assertThat(event.sessionKey()).isEqualTo("s");
            assertThat(event.source()).isEqualTo("llm");
        });
        assertThat(events.stream().map(Event::id)).doesNotHaveDuplicates();
    }

    @Test
    void shouldGatherWhatComesUntilItIsSent() {
        // given
        CallStream stream = stream(0);
        stream.onAttempt(1);
        stream.onDelta(new ModelDelta.Text("a"));
        drain(stream);

        // when
        stream.onDelta(new ModelDelta.Text("b"));
        stream.onDelta(new ModelDelta.Text("c"));

        // then
        assertThat(scheduled).containsExactly(true, false);
        assertThat(said(drain(stream))).containsExactly("stream.text 1/2 bc");
        assertThat(drain(stream)).isEmpty();
    }

    @Test
    void shouldBeginAnewWithEachAttempt() {
        // given
        CallStream stream = stream(0);

        // when
        stream.onAttempt(1);
        stream.onDelta(new ModelDelta.Text("half a "));
        List<Event> first = drain(stream);
        stream.onDelta(new ModelDelta.Text("sentence that nobody needs to see any more"));
        stream.onAttempt(2);
        stream.onDelta(new ModelDelta.Text("whole"));

        // then
        assertThat(said(first)).containsExactly("stream.start 1/0 general", "stream.text 1/1 half a ");
        assertThat(said(drain(stream))).containsExactly("stream.restart 2/0 retry general", "stream.text 2/1 whole");
    }

    @Test
    @DisplayName("F-257: what was said so far is the text of the last attempt, at most as much as one event takes, and"
            + " no half of a character")
    void shouldKnowWhatWasSaidSoFar() {
        // given
        CallStream stream = stream(0);
        stream.onAttempt(1);
        stream.onDelta(new ModelDelta.Text("nobody's"));
        stream.onAttempt(2);
        String nothing = stream.said();

        // when
        stream.onDelta(new ModelDelta.Reasoning("hm"));
        stream.onDelta(new ModelDelta.Text("Hel"));
        drain(stream);
        stream.onDelta(new ModelDelta.Text("lo"));
        String said = stream.said();
        stream.onDelta(new ModelDelta.Text("x".repeat(CallStream.MAX_SAID - 6) + "😀 and more"));

        // then
        assertThat(nothing).isNull();
        assertThat(said).isEqualTo("Hello");
        assertThat(stream.said()).hasSize(CallStream.MAX_SAID - 1).endsWith("xx");
    }

    @Test
    void shouldCountOnWhereAnInstanceThatIsGoneMayHaveBeen() {
        // given
        CallStream stream = stream(2);

        // when
        stream.onAttempt(1);

        // then
        assertThat(said(drain(stream))).containsExactly("stream.restart 201/0 takeover general");
    }

    @Test
    void shouldNotTearACharacterApart() {
        // given
        CallStream stream = stream(0);
        stream.onAttempt(1);
        String face = "😀";

        // when
        stream.onDelta(new ModelDelta.Text("a" + face.charAt(0)));
        List<Event> first = drain(stream);
        List<Event> meanwhile = drain(stream);
        stream.onDelta(new ModelDelta.Text(face.charAt(1) + "b"));

        // then
        assertThat(said(first)).containsExactly("stream.start 1/0 general", "stream.text 1/1 a");
        assertThat(meanwhile).isEmpty();
        assertThat(said(drain(stream))).containsExactly("stream.text 1/2 " + face + "b");
        assertThat(scheduled).containsExactly(true, false);
    }

    @Test
    void shouldCutWhatIsTooLongForARecordBetweenCharacters() {
        // given
        CallStream stream = stream(0);
        stream.onAttempt(1);
        String text = "x" + "😀".repeat(CallStream.MAX_DELTA);

        // when
        stream.onDelta(new ModelDelta.Text(text));

        // then
        List<Event> pieces = drain(stream).stream()
                .filter(event -> event.type() == StreamType.TEXT)
                .toList();
        assertThat(pieces).hasSizeGreaterThan(2).allSatisfy(piece -> {
            assertThat(piece.text("delta")).hasSizeLessThanOrEqualTo(CallStream.MAX_DELTA);
            assertThat(Character.isLowSurrogate(
                            String.valueOf(piece.text("delta")).charAt(0)))
                    .isFalse();
        });
        assertThat(String.join(
                        "", pieces.stream().map(piece -> piece.text("delta")).toList()))
                .isEqualTo(text);
    }

    @Test
    void shouldLeaveAHoleInTheNumbersForWhatDoesNotFit() {
        // given
        CallStream stream = stream(0);
        stream.onAttempt(1);

        // when
        stream.onDelta(new ModelDelta.Text("x".repeat(CallStream.MAX_WAITING)));
        stream.onDelta(new ModelDelta.Text("too"));
        stream.onDelta(new ModelDelta.Text("much"));
        List<Event> events = drain(stream);
        stream.onDelta(new ModelDelta.Text("more"));

        // then
        int last = seq(events.getLast());
        assertThat(said(drain(stream))).containsExactly("stream.text 1/" + (last + 2) + " more");
    }

    @Test
    void shouldTellTheEndOfACallThatFailedOrThatNobodyWantsAnyMore() {
        // given
        CallStream failed = stream(0);
        CallStream cancelled = stream(0);
        failed.onAttempt(1);
        cancelled.onAttempt(1);

        // when
        failed.ended(Event.root("r", KnownEventType.MODEL_CALL_FAILED, NOW)
                .payload(Map.of("callId", "t/1/0", "code", "timeout", "error", "late"))
                .build());
        cancelled.cancelled();
        cancelled.onDelta(new ModelDelta.Text("late"));
        cancelled.ended(reply("stop"));

        // then
        assertThat(said(drain(failed))).containsExactly("stream.start 1/0 general", "stream.error 1/1 timeout late");
        assertThat(said(drain(cancelled)))
                .containsExactly(
                        "stream.start 1/0 general", "stream.error 1/1 cancelled nobody waits for this reply any more");
    }

    @Test
    void shouldTellTheEndOfEveryKindOfReply() {
        // given
        Map<KnownEventType, Payload> replies = Map.of(
                KnownEventType.NEED_MORE_INFO,
                new Payload.NeedMoreInfo(
                        "t/1/0", "Which?", null, null, null, null, List.of(), "m", "stop", null, List.of(), null, null,
                        null, null, null),
                KnownEventType.CONTEXT_COMPACTED,
                new Payload.ContextCompacted("t/1/0", "So far.", null, null, "m", "stop", null, null, List.of(), null));

        replies.forEach((type, payload) -> {
            // when
            CallStream stream = stream(0);
            stream.onAttempt(1);
            stream.ended(Event.root("r", type, NOW).payload(payload).build());

            // then
            assertThat(said(drain(stream))).containsExactly("stream.start 1/0 general", "stream.completed 1/1 m stop");
        });
    }

    @Test
    void shouldTellNothingOfACallThatNeverBegan() {
        // given
        CallStream stream = stream(0);

        // when
        stream.cancelled();

        // then
        assertThat(drain(stream)).isEmpty();
        assertThat(stream.isOver()).isTrue();
    }

    private CallStream stream(int takeovers) {
        return new CallStream(
                new OutstandingCall(
                        "t/1/0",
                        Event.DEFAULT_NAMESPACE,
                        "t",
                        "s",
                        "root",
                        "cause",
                        null,
                        AgentPin.NONE,
                        100,
                        1,
                        1,
                        OutstandingCall.Shown.ALL,
                        NOW.toEpochMilli(),
                        takeovers),
                new CallStream.Asker("general", null),
                (stream, soon) -> scheduled.add(soon));
    }

    private static List<Event> drain(CallStream stream) {
        return stream.drain(NOW, 0);
    }

    private static Event reply(String finishReason) {
        return Event.root("r", KnownEventType.REASON_DONE, NOW)
                .payload(Map.of("callId", "t/1/0", "finishReason", finishReason, "response", "Hello"))
                .build();
    }

    private static int seq(Event event) {
        return event.fields().get("seq") instanceof Number number ? number.intValue() : -1;
    }

    private static List<String> said(List<Event> events) {
        return events.stream()
                .map(event -> {
                    List<@Nullable Object> words =
                            new ArrayList<>(event.fields().values());
                    return event.type() + " " + words.get(1) + "/"
                            + String.join(
                                    " ",
                                    words.subList(2, words.size()).stream()
                                            .map(String::valueOf)
                                            .toList());
                })
                .toList();
    }
}
