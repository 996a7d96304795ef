package dev.millrace.llm.scripted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.llm.FinishReason;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelDelta;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.Requests;
import dev.millrace.llm.StreamListener;
import dev.millrace.llm.ToolCallRequest;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordingModelTest {

    private static final String AWKWARD =
            "She said: \"{{user}}\" \\ 50% — grün 😀\n\t# no: comment\n--- \u2028 end\u007f";
    private static final ModelRequest QUESTION =
            Requests.system("Be brief.").thenUser("hi\nthere 😀").build();

    @TempDir
    private Path folder;

    private final Deque<Object> answers = new ArrayDeque<>();
    private final LanguageModel real = new LanguageModel() {
        @Override
        public ModelReply chat(ModelRequest request) throws ModelCallException {
            Object next = answers.removeFirst();
            if (next instanceof ModelCallException failure) {
                throw failure;
            }
            return (ModelReply) next;
        }

        @Override
        public String name() {
            return "real: \"one\"";
        }

        @Override
        public String description() {
            return "a real model";
        }
    };

    private static ModelReply reply(String text) {
        return new ModelReply(text, null, List.of(), FinishReason.STOP, new Usage(7, 3), "real: \"one\"");
    }

    private RecordingModel recording() {
        return new RecordingModel(real, folder.resolve("recorded.yaml"));
    }

    private ScriptedModel played() {
        return new ScriptedModel(Script.load(folder.resolve("recorded.yaml")), null, pause -> {});
    }

    @Test
    void shouldPlayWhatWasRecorded() throws Exception {
        // given
        ToolCallRequest call =
                new ToolCallRequest("call-7", "find", Map.of("q", AWKWARD, "n", 3, "deep", List.of(Map.of("x", true))));
        ToolCallRequest malformed = new ToolCallRequest("call-8", "find", Map.of(), "{\"q\": oops");
        answers.add(new ModelReply(
                AWKWARD,
                "thinking {{hard}}",
                List.of(call, malformed),
                FinishReason.LENGTH,
                new Usage(100, 20, 40, 0, 8, null),
                "real: \"one\""));

        // when
        ModelReply recorded = recording().chat(QUESTION);
        ModelReply played = played().chat(QUESTION);

        // then
        assertThat(played.text()).isEqualTo(recorded.text()).isEqualTo(AWKWARD);
        assertThat(played.reasoning()).isEqualTo("thinking {{hard}}");
        assertThat(played.usage()).isEqualTo(recorded.usage());
        assertThat(played.finishReason()).isEqualTo(FinishReason.LENGTH);
        assertThat(played.model()).isEqualTo("real: \"one\"");
        assertThat(played.toolCalls()).extracting(ToolCallRequest::toolName).containsExactly("find", "find");
        assertThat(played.toolCalls().get(0).arguments()).isEqualTo(call.arguments());
        assertThat(played.toolCalls().get(1).malformedArguments()).isEqualTo("{\"q\": oops");
    }

    @Test
    @DisplayName("a whole conversation plays although ids differ")
    void shouldNotCareForIds() throws Exception {
        // given
        answers.add(reply("done"));
        RecordingModel recording = recording();
        ModelRequest recorded = Requests.user("go")
                .thenCalls(new ToolCallRequest("real-id", "find", Map.of("n", new BigDecimal("1.5"))))
                .thenResult("real-id", "find", "{}")
                .callId("then")
                .build();
        ModelRequest replayed = Requests.user("go")
                .thenCalls(new ToolCallRequest("scripted-id", "find", Map.of("n", new BigDecimal("1.5"))))
                .thenResult("scripted-id", "find", "{}")
                .callId("now")
                .build();

        // when
        ModelReply live = recording.chat(recorded);
        ModelReply played = played().chat(replayed);

        // then
        assertThat(played.text()).isEqualTo(live.text());
    }

    @Test
    void shouldPlayRepeatedRequestsInTheirOrder() throws Exception {
        // given
        answers.addAll(List.of(reply("one"), reply("two")));
        RecordingModel recording = recording();
        assertThat(recording.chat(QUESTION).text()).isEqualTo("one");
        assertThat(recording.chat(QUESTION).text()).isEqualTo("two");
        ScriptedModel played = played();

        // when
        List<String> texts = new ArrayList<>();
        for (String callId : List.of("a", "a", "b")) {
            texts.add(String.valueOf(played.chat(Requests.system("Be brief.")
                            .thenUser("hi\nthere 😀")
                            .callId(callId)
                            .build())
                    .text()));
        }

        // then
        assertThat(texts).containsExactly("one", "one", "two");
        assertThat(catchThrowableOfType(
                                ModelCallException.class,
                                () -> played.chat(Requests.system("Be brief.")
                                        .thenUser("hi\nthere 😀")
                                        .callId("c")
                                        .build()))
                        .getMessage())
                .isEqualTo("nothing was recorded for this request");
    }

    @Test
    void shouldRecordFinalFailuresOnly() throws Exception {
        // given
        answers.addAll(List.of(
                new ModelCallException(ModelErrorCode.RATE_LIMITED, "slow down"),
                new ModelCallException(ModelErrorCode.CANCELLED, "never mind"),
                new ModelCallException(ModelErrorCode.CONTEXT_OVERFLOW, "too long")));
        RecordingModel recording = recording();

        // when
        List<ModelErrorCode> codes = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            codes.add(catchThrowableOfType(ModelCallException.class, () -> recording.chat(QUESTION))
                    .code());
        }
        ModelCallException played = catchThrowableOfType(ModelCallException.class, () -> played().chat(QUESTION));

        // then
        assertThat(codes)
                .containsExactly(
                        ModelErrorCode.RATE_LIMITED, ModelErrorCode.CANCELLED, ModelErrorCode.CONTEXT_OVERFLOW);
        assertThat(played.code()).isEqualTo(ModelErrorCode.CONTEXT_OVERFLOW);
        assertThat(played).hasMessage("too long");
    }

    @Test
    void shouldContinueAFileAndPassStreamsOn() throws Exception {
        // given
        answers.addAll(List.of(reply("one"), reply("two")));
        List<ModelDelta> deltas = new ArrayList<>();
        ModelReply first = recording().chat(QUESTION);
        StreamListener listener = deltas::add;

        // when
        ModelReply second = recording().stream(Requests.user("more").build(), listener);

        // then
        assertThat(deltas).containsExactly(new ModelDelta.Text("two"));
        assertThat(played().chat(QUESTION).text()).isEqualTo(first.text());
        assertThat(played().chat(Requests.user("more").build()).text()).isEqualTo(second.text());
        assertThat(Files.readString(folder.resolve("recorded.yaml"))).containsOnlyOnce("rules:");
    }

    @Test
    void shouldSayThatAFileCannotBeWritten() {
        assertThatThrownBy(
                        () -> new RecordingModel(real, folder.resolve("no-such").resolve("f.yaml")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("record: expected a file that can be written, found ");
    }
}
