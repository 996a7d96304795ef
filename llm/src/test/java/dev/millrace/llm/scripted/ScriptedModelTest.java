package dev.millrace.llm.scripted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.Requests;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScriptedModelTest {

    private static final JsonMapper JSON = new JsonMapper();

    private final List<Duration> slept = new ArrayList<>();

    private ScriptedModel model(String yaml) {
        return new ScriptedModel(Script.parse("test.yaml", yaml), null, slept::add);
    }

    private static ModelCallException failureOf(ScriptedModel model, ModelRequest request) {
        return catchThrowableOfType(ModelCallException.class, () -> model.chat(request));
    }

    private static final Requests ROUND = Requests.user("Read a.json, please")
            .thenTool("list_files", "{\"entries\":[{\"path\":\"a\",\"n\":1},{\"path\":\"b\"},{\"n\":3}]}")
            .thenTool("read_file", "{\"content\":\"hello\",\"deep\":{\"flags\":[true,\"x\"]},\"n\":1.50}");

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            {{user}}                               ; Read a.json, please
            <{{ user.0 }}>                         ; <Read a.json>
            {{user.1}} {{user.file}}               ; Read a.json
            {{user.polite}}!                       ; !
            {{iteration}}                          ; 3
            {{callId}}                             ; task-1/1/0
            {{tools}}                              ; one, two
            {{result.list_files.entries.*.path}}   ; a, b
            {{result.list_files.entries.0.path}}   ; a
            {{result.list_files.entries.1}}        ; {"path":"b"}
            {{result.read_file.content}}           ; hello
            {{result.read_file.deep.flags}}        ; true, x
            {{result.read_file.deep}}              ; {"flags":[true,"x"]}
            {{result.read_file.gone | otherwise "nothing"}} ; nothing
            {{result.other|otherwise"no | such }} tool"}}! ; no | such }} tool!
            {{result.read_file | json}}            ; "{\\"content\\":\\"hello\\",\\"deep\\":{\\"flags\\":[true,\\"x\\"]},\\"n\\":1.50}"
            {{user.polite | json}}                 ; ""
            {{iteration | number}}                 ; 3
            {{user.polite | otherwise "7" | number}} ; 7
            {{user.1 | number | otherwise "none"}} ; none
            {{user.1 | number | none}}             ; none
            {{result.read_file.gone | nothing}}    ; nothing
            {{result.other|no such tool}}          ; no such tool
            {{result.other | don't | "know"}}, don't ; don't | "know", don't
            {{result.other | numbers}}             ; numbers
            <{{result.other | }}>                  ; <>
            """)
    void shouldFillInTemplates(String template, String expected) throws Exception {
        // given
        ScriptedModel model = model("""
                rules:
                  - user: '(Read) (?<file>\\S+)(?<polite> thanks)?(?=,)'
                    text: '%s'
                """.formatted(template.replace("'", "''")));

        // when
        ModelReply reply = model.chat(ROUND.offering("one", "two").build());

        // then
        assertThat(reply.text()).isEqualTo(expected);
    }

    @Test
    void shouldShowAllResultsAndTheLatestOne() throws Exception {
        // given
        ScriptedModel model = model("rules: [{text: '{{results}} / {{result}}'}]");

        // when
        ModelReply reply = model.chat(Requests.user("go")
                .thenTool("a", "1")
                .thenTool("b", "Error: two")
                .build());

        // then
        assertThat(reply.text()).isEqualTo("a: 1\nb: Error: two / Error: two");
    }

    @Test
    void shouldFailWhenAPlaceholderLeadsNowhere() {
        // given
        ScriptedModel model = model("rules: [{name: lost, text: '{{result.read_file.gone}}'}]");

        // when
        ModelCallException failure = failureOf(model, ROUND.build());

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.SCRIPT_ERROR);
        assertThat(failure.retryable()).isFalse();
        assertThat(failure)
                .hasMessage("test.yaml, rule lost: {{result.read_file.gone}} leads nowhere; there are results of: "
                        + "list_files, read_file");
    }

    @Test
    void shouldKeepTheJsonTypeOfAnArgumentThatIsOnePlaceholder() throws Exception {
        // given
        ScriptedModel model = model("""
                rules:
                  - calls:
                      - tool: t
                        arguments:
                          flags: "{{result.read_file.deep.flags}}"
                          text: "{{result.read_file.deep.flags}}!"
                          nested: {list: [1, 2.5, true, null, "{{iteration}}"]}
                """);

        // when
        Map<String, ?> arguments =
                model.chat(ROUND.build()).toolCalls().getFirst().arguments();

        // then
        assertThat(arguments.get("flags")).isEqualTo(List.of(true, "x"));
        assertThat(arguments.get("text")).isEqualTo("true, x!");
        assertThat(arguments.get("nested")).hasToString("{list=[1, 2.5, true, null, 3]}");
    }

    @ParameterizedTest
    @CsvSource({"59.90, 59.90", "60, 60", "-0.5, -0.5", "1e3, 1E+3", "123456789012345678901, 123456789012345678901"})
    @DisplayName("what the user wrote becomes a number that a tool takes for one")
    void shouldMakeNumbersOfTheUsersText(String written, String number) throws Exception {
        // given
        ScriptedModel model = model("""
                rules:
                  - user: 'refund (\\S+)'
                    calls: [{tool: refund, arguments: {amount: "{{user.1 | number}}"}}]
                """);

        // when
        Object amount = model.chat(Requests.user("refund " + written).build())
                .toolCalls()
                .getFirst()
                .arguments()
                .get("amount");

        // then
        assertThat(amount).isInstanceOf(Number.class);
        assertThat(JSON.writeValueAsString(Map.of("amount", amount))).isEqualTo("{\"amount\":" + number + "}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"all", "12,50", "1e999999999", "0x10", "NaN", "5."})
    void shouldFailWhereANumberIsNone(String written) {
        // given
        ScriptedModel model = model("""
                rules:
                  - {name: refund, user: 'refund (\\S+)', text: "{{user.1 | number}}"}
                """);

        // when
        ModelCallException failure =
                failureOf(model, Requests.user("refund " + written).build());

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.SCRIPT_ERROR);
        assertThat(failure)
                .hasMessage("test.yaml, rule refund: {{user.1 | number}} expected a number, found \"" + written + '"');
    }

    @Test
    @DisplayName("a text that is a JSON object stays one, whatever the user and the tools say")
    void shouldFillInJson() throws Exception {
        // given
        ScriptedModel model = model("""
                rules:
                  - user: 'amount (\\S+)'
                    text: |-
                      {"said": "the user said: {{user}}", "amount": {{user.1}}, "text": {{user}},
                       "order": {{result.find}}, "id": {{result.find.id}}, "kept": "\\"{{result.find.gone | otherwise 'a "b"'}}\\"",
                       "again": {{result.find | json}}, "list": {{result.find.list}}, "lines": "{{result.find.list}}"}
                """);
        String said = "amount 59.90\n\"quoted\" C:\\x";
        String found = "{\"id\":\"X1\",\"list\":[1,\"two\"]}";

        // when
        String text =
                model.chat(Requests.user(said).thenTool("find", found).build()).text();

        // then
        JsonNode json = JSON.readTree(text);
        assertThat(json.path("said").asText()).isEqualTo("the user said: " + said);
        assertThat(json.path("text").asText()).isEqualTo(said);
        assertThat(json.path("amount")).isEqualTo(JSON.readTree("59.90"));
        assertThat(json.path("order")).isEqualTo(JSON.readTree(found));
        assertThat(json.path("id").asText()).isEqualTo("X1");
        assertThat(json.path("kept").asText()).isEqualTo("\"a \"b\"\"");
        assertThat(json.path("again").asText()).isEqualTo(found);
        assertThat(json.path("list")).isEqualTo(JSON.readTree("[1,\"two\"]"));
        assertThat(json.path("lines").asText()).isEqualTo("1, two");
    }

    @Test
    @DisplayName("what only looks like JSON is filled in as a text")
    void shouldLeaveOtherTextsAlone() throws Exception {
        // given
        ScriptedModel model = model("rules: [{text: '{\"{{user}}\"} [{{user}}]'}]");

        // when
        ModelReply reply = model.chat(Requests.user("a \"b\"").build());

        // then
        assertThat(reply.text()).isEqualTo("{\"a \"b\"\"} [a \"b\"]");
    }

    @Test
    @DisplayName("an error is told from a good result, by otherwise and by failed")
    void shouldTellAnErrorFromAGoodResult() throws Exception {
        // given
        ScriptedModel model = model("""
                rules:
                  - {user: route, failed: [find], text: "cannot find"}
                  - {user: route, failed: [find, refund], text: "never: find has not failed here"}
                  - {user: route, failed: false, text: "fine"}
                  - text: "Your reference is {{result.refund.reference | otherwise 'not there yet'}}, {{result.refund | otherwise 'x'}}, {{result.refund | y}}"
                """);

        // when
        List<String> texts = new ArrayList<>();
        for (Requests request : List.of(
                Requests.user("go").thenTool("refund", "{\"reference\":\"R-1\"}"),
                Requests.user("go").thenTool("refund", "Error: VALIDATION ERROR: /amount"),
                Requests.user("route").thenTool("find", "Error: no").thenTool("refund", "{}"),
                Requests.user("route").thenTool("find", "Error: no").thenTool("find", "{}"))) {
            texts.add(String.valueOf(model.chat(request.build()).text()));
        }

        // then
        assertThat(texts)
                .containsExactly(
                        "Your reference is R-1, {\"reference\":\"R-1\"}, {\"reference\":\"R-1\"}",
                        "Your reference is not there yet, x, Error: VALIDATION ERROR: /amount",
                        "cannot find",
                        "fine");
    }

    @Test
    void shouldTakeTheFirstRuleThatFits() throws Exception {
        // given
        ScriptedModel model = model("""
                rules:
                  - {system: pirate, text: Arr}
                  - {user: hello, after: [greet], text: after greet}
                  - {user: hello, rounds: 2, text: after two rounds}
                  - {user: hello, failed: true, text: after a failure}
                  - {user: hello, tools: [special], text: with special}
                  - {user: hello, text: plain}
                fallback: {text: none}
                """);

        // when
        List<String> texts = new ArrayList<>();
        for (Requests request : List.of(
                Requests.system("You are a pirate").thenUser("hello"),
                Requests.user("hello").thenTool("greet", "{}"),
                Requests.user("hello").thenTool("a", "{}").thenTool("b", "{}"),
                Requests.user("hello").thenTool("a", "Error: no"),
                Requests.user("hello").offering("special", "other"),
                Requests.user("hello"),
                Requests.user("bye"))) {
            texts.add(String.valueOf(model.chat(request.build()).text()));
        }

        // then
        assertThat(texts)
                .containsExactly(
                        "Arr", "after greet", "after two rounds", "after a failure", "with special", "plain", "none");
    }

    @Test
    void shouldSayThatNoRuleFitsWhenTheScriptHasNoFallback() throws Exception {
        // given
        ScriptedModel model = model("rules: []");

        // when
        ModelReply reply = model.chat(Requests.user("anything").build());

        // then
        assertThat(reply.text()).contains("scripted model", "no rule", "anything");
    }

    @Test
    void shouldFollowStepsRoundByRoundAndLeaveTheRestToLaterRules() throws Exception {
        // given
        ScriptedModel model = model("""
                rules:
                  - steps:
                      - calls: [{tool: a}, {tool: b}]
                      - calls: [{tool: c}]
                  - text: done
                """);

        // when
        ModelReply first = model.chat(Requests.user("go").build());
        ModelReply second = model.chat(Requests.user("go").thenTool("a", "{}").build());
        ModelReply third = model.chat(
                Requests.user("go").thenTool("a", "{}").thenTool("c", "{}").build());

        // then
        assertThat(first.toolCalls()).extracting(call -> call.toolName()).containsExactly("a", "b");
        assertThat(second.toolCalls()).extracting(call -> call.toolName()).containsExactly("c");
        assertThat(third.text()).isEqualTo("done");
    }

    @Test
    void shouldGiveEqualRepliesToEqualRequests() throws Exception {
        // given
        String yaml = "rules: [{text: hm, reasoning: because, calls: [{tool: t, arguments: {a: '{{user}}'}}]}]";

        // when
        ModelReply once = model(yaml).chat(ROUND.build());
        ModelReply again = model(yaml).chat(ROUND.build());

        // then
        assertThat(again).isEqualTo(once);
    }

    @Test
    @DisplayName("F-301: malformed arguments do not lose the call")
    void shouldHandOutMalformedArguments() throws Exception {
        // given
        ScriptedModel model = model("rules: [{calls: [{tool: t, malformedArguments: '{\"a\": '}]}]");

        // when
        ModelReply reply = model.chat(Requests.user("go").build());

        // then
        assertThat(reply.toolCalls().getFirst().arguments()).isEmpty();
        assertThat(reply.toolCalls().getFirst().malformedArguments()).isEqualTo("{\"a\": ");
    }

    @Test
    void shouldEstimateTokensFromCharactersUnlessToldTheNumber() throws Exception {
        // given
        ScriptedModel model = model("""
                rules:
                  - {user: told, text: x, usage: {inputTokens: 7, outputTokens: 9}, finishReason: length}
                  - {text: '12345'}
                """);

        // when
        ModelReply told = model.chat(Requests.user("told").build());
        ModelReply estimated = model.chat(Requests.user("123456789").build());

        // then
        assertThat(told.usage()).isEqualTo(new Usage(7, 9));
        assertThat(told.finishReason()).isEqualTo(FinishReason.LENGTH);
        assertThat(estimated.usage()).isEqualTo(new Usage(3, 2));
    }

    @Test
    void shouldTakeTheLatencyOfTheReplyElseOfTheScript() throws Exception {
        // given
        ScriptedModel model = model("""
                latencyMs: 20
                rules:
                  - {user: slow, text: x, latencyMs: 500}
                  - {text: x}
                """);

        // when
        model.chat(Requests.user("slow").build());
        model.chat(Requests.user("ordinary").build());

        // then
        assertThat(slept).containsExactly(Duration.ofMillis(500), Duration.ofMillis(20));
    }

    @Test
    void shouldEndPromptlyWhenInterrupted() throws Exception {
        // given
        ScriptedModel model = new ScriptedModel(Script.parse("test.yaml", "{latencyMs: 600000, rules: [{text: x}]}"));
        List<ModelCallException> failures = new ArrayList<>();
        Thread caller = Thread.ofVirtual()
                .start(() -> failures.add(failureOf(model, Requests.user("go").build())));

        // when
        caller.interrupt();
        boolean ended = caller.join(Duration.ofSeconds(20));

        // then
        assertThat(ended).isTrue();
        assertThat(failures).extracting(ModelCallException::code).containsExactly(ModelErrorCode.CANCELLED);
    }

    @Test
    void shouldFailTheFirstAttemptsOfEachCall() throws Exception {
        // given
        ScriptedModel model = model("""
                rules:
                  - fail: {code: rate_limited, message: slow down, retryAfterMs: 1500, times: 2}
                    text: fine
                """);
        ModelRequest first = Requests.user("go").callId("a").build();
        ModelRequest second = Requests.user("go").callId("b").build();

        // when
        ModelCallException failure = failureOf(model, first);
        failureOf(model, first);
        ModelReply reply = model.chat(first);
        ModelCallException other = failureOf(model, second);

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.RATE_LIMITED);
        assertThat(failure).hasMessage("slow down");
        assertThat(failure.retryable()).isTrue();
        assertThat(failure.retryAfter()).isEqualTo(Duration.ofMillis(1500));
        assertThat(reply.text()).isEqualTo("fine");
        assertThat(other.code()).isEqualTo(ModelErrorCode.RATE_LIMITED);
    }

    @Test
    void shouldCountFailuresOverAllCallsIfToldSo() throws Exception {
        // given
        ScriptedModel model =
                model("rules: [{fail: {code: model_unavailable, retryable: false, times: 1, per: process}, text: ok}]");

        // when
        ModelCallException failure =
                failureOf(model, Requests.user("go").callId("a").build());
        ModelReply reply = model.chat(Requests.user("go").callId("b").build());

        // then
        assertThat(failure.retryable()).isFalse();
        assertThat(reply.text()).isEqualTo("ok");
    }

    @Test
    void shouldLogEveryAttemptOnALineOfItsOwn(@TempDir Path folder) throws Exception {
        // given
        Path log = folder.resolve("calls.log");
        ScriptedModel model = new ScriptedModel(Script.parse(
                "test.yaml", "callLog: '" + log + "'\nrules: [{fail: {code: timeout, times: 1}, text: ok}]"));

        // when
        failureOf(model, Requests.user("go").callId("a").build());
        model.chat(Requests.user("go").callId("a").build());
        failureOf(model, Requests.user("go").callId("b").build());

        // then
        assertThat(Files.readAllLines(log))
                .extracting(line -> line.substring(line.indexOf(' ') + 1))
                .containsExactly("a", "a", "b");
        assertThat(Files.readAllLines(log))
                .allSatisfy(line -> assertThat(Instant.parse(line.substring(0, line.indexOf(' '))))
                        .isNotNull());
    }

    @Test
    void shouldFailTheCallWhenTheLogCannotBeWritten(@TempDir Path folder) {
        // given
        ScriptedModel model =
                new ScriptedModel(Script.parse("test.yaml", "rules: [{text: ok}]"), folder.resolve("no/such/folder"));

        // when
        ModelCallException failure = failureOf(model, Requests.user("go").build());

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.SCRIPT_ERROR);
        assertThat(failure).hasMessageContaining("call log");
    }
}
