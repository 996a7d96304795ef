package dev.millrace.llm.scripted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelDelta;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Streams, latencies and the faults that only streams have. */
@Timeout(30)
class ScriptedStreamTest {

    private final List<Duration> slept = new ArrayList<>();
    private final List<ModelDelta> deltas = new ArrayList<>();

    private ScriptedModel model(String yaml) {
        return new ScriptedModel(Script.parse("test.yaml", yaml), null, slept::add);
    }

    private static ModelRequest call(String callId) {
        return Requests.user("hi").callId(callId).build();
    }

    @Test
    void shouldStreamInPieces() throws Exception {
        // given
        ScriptedModel model = model("""
                latencyMs: 100
                stream: { chunkChars: 4, chunkMs: 7 }
                rules:
                  - reasoning: well
                    text: "hello 😀!"
                    calls: [{ tool: t, arguments: { a: 1 } }, { tool: u, malformedArguments: "{" }]
                """);

        // when
        ModelReply reply = model.stream(call("c"), deltas::add);

        // then
        assertThat(deltas)
                .containsExactly(
                        new ModelDelta.Reasoning("well"),
                        new ModelDelta.Text("hell"),
                        new ModelDelta.Text("o 😀"),
                        new ModelDelta.Text("!"),
                        new ModelDelta.ToolCall(0, reply.toolCalls().get(0).toolCallId(), "t", "{\"a\""),
                        new ModelDelta.ToolCall(0, null, null, ":1}"),
                        new ModelDelta.ToolCall(1, reply.toolCalls().get(1).toolCallId(), "u", "{"));
        assertThat(slept).hasSize(7).startsWith(Duration.ofMillis(100), Duration.ofMillis(7));
    }

    @Test
    void shouldTakeAsLongAsAWholeReply() throws Exception {
        // given
        ScriptedModel model = model("""
                rules: [{ text: "12345678", latencyMs: 5, stream: { chunkChars: 2, chunkMs: 3 } }]
                """);

        // when
        ModelReply whole = model.chat(call("c"));
        List<Duration> forWhole = List.copyOf(slept);
        slept.clear();
        ModelReply streamed = model.stream(call("c"), deltas::add);

        // then
        assertThat(streamed).isEqualTo(whole);
        assertThat(slept).isEqualTo(forWhole).hasSize(4);
    }

    @Test
    void shouldBreakOff() {
        // given
        ScriptedModel model = model("""
                rules: [{ text: "one two three", fail: { code: model_unavailable, afterChars: 7 } }]
                """);

        // when
        ModelCallException failure =
                catchThrowableOfType(ModelCallException.class, () -> model.stream(call("c"), deltas::add));

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.MODEL_UNAVAILABLE);
        assertThat(deltas).containsExactly(new ModelDelta.Text("one two"));
    }

    @Test
    void shouldHangUntilTheCallerGivesUp() throws Exception {
        // given
        CountDownLatch hanging = new CountDownLatch(1);
        ScriptedModel model =
                new ScriptedModel(Script.parse("test.yaml", "rules: [{ fail: { hang: true } }]"), null, pause -> {
                    hanging.countDown();
                    Thread.sleep(pause);
                });
        CompletableFuture<ModelErrorCode> code = new CompletableFuture<>();
        Thread caller = Thread.ofVirtual()
                .start(() -> code.complete(
                        catchThrowableOfType(ModelCallException.class, () -> model.stream(call("c"), deltas::add))
                                .code()));
        assertThat(hanging.await(20, TimeUnit.SECONDS)).isTrue();

        // when
        caller.interrupt();

        // then
        assertThat(code.get(20, TimeUnit.SECONDS)).isEqualTo(ModelErrorCode.CANCELLED);
    }

    @Test
    void shouldEndWhenTheListenerBreaks() {
        // given
        ScriptedModel model = model("rules: [{ text: x }]");

        // when
        ModelCallException failure = catchThrowableOfType(
                ModelCallException.class,
                () -> model.stream(call("c"), delta -> {
                    throw new IllegalStateException("no room");
                }));

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.INTERNAL_ERROR);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            { min: 100, max: 300 }      ; 200 ; 300
            { median: 400, p99: 4000 }  ; 400 ; 4000
            """)
    void shouldDrawLatenciesThatTheCallDecides(String latency, long median, long p99) throws Exception {
        // given
        String yaml = "seed: %d\nlatencyMs: " + latency + "\nrules: [{ text: x }]";
        List<Long> millis = new ArrayList<>();

        // when
        ScriptedModel model = model(yaml.formatted(1));
        for (int i = 0; i < 2_000; i++) {
            assertThat(model.chat(call("call-" + i)).text()).isEqualTo("x");
        }
        slept.forEach(pause -> millis.add(pause.toMillis()));
        List<Duration> first = List.copyOf(slept.subList(0, 10));
        slept.clear();
        for (int i = 0; i < 10; i++) {
            assertThat(model(yaml.formatted(1)).chat(call("call-" + i)).text()).isEqualTo("x");
        }
        List<Duration> again = List.copyOf(slept);
        slept.clear();
        for (int i = 0; i < 10; i++) {
            assertThat(model(yaml.formatted(2)).chat(call("call-" + i)).text()).isEqualTo("x");
        }

        // then
        millis.sort(null);
        assertThat(millis.get(1_000)).isBetween(median * 9 / 10, median * 11 / 10);
        assertThat(millis.get(1_980)).isBetween(p99 * 7 / 10, p99 * 13 / 10);
        assertThat(again).isEqualTo(first);
        assertThat(slept).isNotEqualTo(first);
    }

    @Test
    void shouldGoThroughASequenceCallByCall() throws Exception {
        // given
        ScriptedModel model = model("""
                rules:
                  - sequence: [{ text: a }, { text: b }]
                  - text: c
                """);

        // when
        List<String> texts = new ArrayList<>();
        for (String callId : List.of("1", "1", "2", "3", "2")) {
            texts.add(String.valueOf(model.chat(call(callId)).text()));
        }

        // then
        assertThat(texts).containsExactly("a", "a", "b", "c", "b");
    }

    @Test
    void shouldCountCachedAndReasoningTokens() throws Exception {
        // given
        ScriptedModel model = model("""
                rules:
                  - text: x
                    usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, reasoningTokens: 8 }
                """);

        // then
        assertThat(model.chat(call("c")).usage()).isEqualTo(new Usage(100, 20, 40, 0, 8, null));
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            latencyMs: { min: 5 }                    ; latencyMs: expected a number, or min and a max
            latencyMs: { min: 5, max: 4 }            ; latencyMs: expected a number, or min and a max
            latencyMs: { median: 0, p99: 4 }         ; latencyMs: expected a number, or min and a max
            stream: { chunkChars: 0 }                ; stream.chunkChars: expected 1 or more, found 0
            """)
    void shouldSayWhatIsWrong(String top, String message) {
        assertThatThrownBy(() -> model(top + "\nrules: [{ text: x }]"))
                .isInstanceOf(InvalidScriptException.class)
                .hasMessageContaining(message);
    }

    @Test
    void shouldRefuseWhatMakesNoSense() {
        assertThatThrownBy(() -> model("rules: [{ fail: { code: timeout, afterChars: 3 } }]"))
                .hasMessageContaining("with afterChars it breaks off a text, so there must be one beside it");
        assertThatThrownBy(() -> model("rules: [{ text: x, sequence: [{ text: y }] }]"))
                .hasMessageContaining("a rule with sequence says this in its sequence");
        assertThatThrownBy(() -> model("rules: [{ steps: [{ text: x }], sequence: [{ text: y }] }]"))
                .hasMessageContaining("a rule has steps or a sequence, not both");
    }
}
