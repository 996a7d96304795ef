package dev.millrace.llm.scripted;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.ModelCall;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelDelta;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.Requests;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of {@code docs/scripted-model.md} do what the text beside them says. */
@Timeout(60)
class ScriptedModelDocTest {

    private static final Path DOCUMENT = Path.of("..", "docs", "scripted-model.md");
    private static final Pattern EXAMPLE = Pattern.compile("(?s)```(yaml|java)\n(.*?)```");
    private static final DispatcherLimits LIMITS =
            new DispatcherLimits(2, 4, Duration.ofMillis(1_500), Duration.ofMillis(1), Duration.ofMillis(5));

    private static List<String> examples(String language) throws IOException {
        List<String> examples = new ArrayList<>();
        Matcher matcher = EXAMPLE.matcher(Files.readString(DOCUMENT));
        while (matcher.find()) {
            if (matcher.group(1).equals(language)) {
                examples.add(matcher.group(2));
            }
        }
        return examples;
    }

    private static ScriptedModel playing(String part) throws IOException {
        String yaml = examples("yaml").stream()
                .filter(example -> example.contains(part))
                .findFirst()
                .orElseThrow();
        return new ScriptedModel(Script.parse("docs/scripted-model.md", yaml), null);
    }

    private static ModelOutcome outcome(ScriptedModel model, String callId, String text) throws InterruptedException {
        BlockingQueue<ModelOutcome> ended = new LinkedBlockingQueue<>();
        try (ModelDispatcher dispatcher = new ModelDispatcher(model, LIMITS)) {
            dispatcher.submit(new ModelCall(
                    callId, 200, 0, () -> Requests.user(text).callId(callId).build(), ended::add));
            ModelOutcome outcome = ended.poll(20, TimeUnit.SECONDS);
            return outcome == null
                    ? new ModelOutcome.Failed(new ModelCallException(ModelErrorCode.INTERNAL_ERROR, "none"), 0)
                    : outcome;
        }
    }

    private static String said(ModelOutcome outcome) {
        return switch (outcome) {
            case ModelOutcome.Replied replied -> String.valueOf(replied.reply().text());
            case ModelOutcome.Failed failed -> failed.error().code().wireName();
        };
    }

    @Test
    @DisplayName("every script on the page is a script")
    void shouldReadEveryExample() throws Exception {
        // when
        List<String> sources = examples("yaml").stream()
                .map(yaml -> Script.parse("docs/scripted-model.md", yaml).source())
                .toList();

        // then
        assertThat(sources).hasSizeGreaterThanOrEqualTo(4);
    }

    @Test
    void shouldFailAndRecoverAsThePageSays() throws Exception {
        // given
        ScriptedModel model = playing("a provider that is busy at first");

        // then
        assertThat(said(outcome(model, "c1", "stumble"))).isEqualTo("One two three four five six seven eight.");
        assertThat(said(outcome(model, "c2", "forbidden"))).isEqualTo("refused");
        assertThat(said(outcome(model, "c3", "locked"))).isEqualTo("auth_failed");
        assertThat(said(outcome(model, "c4", "storm"))).isEqualTo("model_unavailable");
        assertThat(said(outcome(model, "c5", "storm"))).isEqualTo("The storm is over.");
        assertThat(said(outcome(model, "c6", "again"))).isEqualTo("First.");
        assertThat(said(outcome(model, "c7", "again"))).isEqualTo("Second.");
        assertThat(said(outcome(model, "c8", "again"))).isEqualTo("content_filtered");
        assertThat(said(outcome(model, "c9", "busy"))).isEqualTo("Sorry for the wait.");
        assertThat(said(outcome(model, "c10", "hang"))).isEqualTo("timeout");
    }

    @Test
    @DisplayName("the answer of the example with a refund is JSON, and the amount a number")
    void shouldMakeNumbersAndJsonAsThePageSays() throws Exception {
        // given
        ScriptedModel model = playing("name: refund");
        Requests question = Requests.user("Refund 59.90 for X1");

        // when
        ModelReply call = model.chat(question.build());
        ModelReply answer = model.chat(
                question.thenTool("refund", "Error: two\nlines, \"quoted\"").build());

        // then
        assertThat(call.toolCalls().getFirst().arguments()).containsEntry("amount", new BigDecimal("59.90"));
        assertThat(new JsonMapper().readTree(answer.text()))
                .isEqualTo(new JsonMapper()
                        .createObjectNode()
                        .put("reference", "none")
                        .put("answer", "Error: two\nlines, \"quoted\""));
    }

    @Test
    void shouldDriveAnAgentAsThePageSays() throws Exception {
        // given
        String java = examples("java").getFirst();
        String yaml = java.substring(java.indexOf("\"\"\"") + 4, java.lastIndexOf("\"\"\""))
                .stripIndent()
                .replace("\\\\", "\\");
        ScriptedModel model = new ScriptedModel(Script.parse("test", yaml));
        List<ModelDelta> deltas = new CopyOnWriteArrayList<>();

        // when
        ModelReply first = model.chat(Requests.user("The weather in Rome?").build());
        ModelReply second = model.stream(
                Requests.user("The weather in Rome?")
                        .thenTool("http_get", "{\"body\":\"sunny\"}")
                        .build(),
                deltas::add);

        // then
        assertThat(first.toolCalls().getFirst().arguments()).containsEntry("url", "https://example.com/Rome");
        assertThat(second.text()).isEqualTo("It is sunny in Rome.");
        assertThat(deltas.stream()
                        .map(delta -> delta instanceof ModelDelta.Text(String text) ? text : "?")
                        .collect(Collectors.joining("|")))
                .isEqualTo("It is| sunn|y in |Rome.");
    }
}
