package dev.millrace.llm.remote;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.llm.ChatMessage.AssistantMessage;
import dev.millrace.llm.ChatMessage.Image;
import dev.millrace.llm.ChatMessage.ToolMessage;
import dev.millrace.llm.ChatMessage.UserMessage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.Requests;
import dev.millrace.llm.ResponseSchema;
import dev.millrace.llm.StreamListener;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.llm.ToolSpec;
import dev.millrace.llm.remote.RemoteSettings.Timeouts;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.StubModelServer.Answer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What each provider is sent. */
@Timeout(60)
class RequestBodiesTest {

    private static final Timeouts PATIENT =
            new Timeouts("models.m.", Duration.ofSeconds(20), Duration.ofSeconds(20), Duration.ofSeconds(20));
    private static final String SCHEMA = """
            {"type":"object","title":"Search","properties":{
              "mode":{"type":"string","enum":["exact","fuzzy"],"default":"exact"},
              "limit":{"type":["integer","null"],"minimum":1,"maximum":100},
              "either":{"oneOf":[{"type":"string"},{"type":"number","const":1.5}]},
              "range":{"$ref":"#/$defs/range"}},
             "required":["mode"],"additionalProperties":false,
             "$defs":{"range":{"type":"array","prefixItems":[{"type":"number"}]}}}""";
    private static final Image PIXEL = new Image("image/png", "iVBORw0KGgo=");

    private volatile Answer answer = Answer.hangUp();
    private final StubModelServer server = StubModelServer.start(request -> answer);

    @AfterEach
    void close() {
        server.close();
    }

    private static Map<String, @Nullable Object> schema() throws MalformedEventException {
        return Json.readObject(SCHEMA.getBytes(StandardCharsets.UTF_8));
    }

    private JsonNode sent(Dialect dialect, ModelRequest request) throws Exception {
        return sent(dialect, request, null, "asked");
    }

    private JsonNode sent(Dialect dialect, ModelRequest request, @Nullable Integer thinkingTokens, String model)
            throws Exception {
        RemoteSettings usual = dialect.settings(server.url(), PATIENT);
        RemoteSettings settings = new RemoteSettings(
                usual.provider(),
                URI.create(server.url() + "/v1"),
                usual.apiKey(),
                usual.keyName(),
                model,
                PATIENT,
                null,
                thinkingTokens);
        answer = dialect.whole();
        assertThat(new RemoteModel(settings).chat(request).text()).isEqualTo("hello world");
        JsonNode whole = WireJson.MAPPER.readTree(server.requests().getLast().text());
        answer = dialect.streamed();
        assertThat(new RemoteModel(settings)
                        .stream(request, StreamListener.NONE).text())
                .isEqualTo("hello world");
        JsonNode streamed = WireJson.MAPPER.readTree(server.requests().getLast().text());
        for (String part :
                List.of("messages", "system", "contents", "systemInstruction", "tools", "thinking", "think")) {
            assertThat(streamed.path(part)).as(part + " of a stream").isEqualTo(whole.path(part));
        }
        return streamed;
    }

    @ParameterizedTest
    @EnumSource
    void shouldSendToolSchemasUnchanged(Dialect dialect) throws Exception {
        // given
        ModelRequest request = Requests.user("hi")
                .offering(new ToolSpec("search", "Searches things.", JsonObject.of(schema())))
                .build();

        // when
        JsonNode tools = sent(dialect, request).path("tools");

        // then
        JsonNode tool =
                switch (dialect) {
                    case OPENAI, OLLAMA -> tools.path(0).path("function");
                    case ANTHROPIC -> tools.path(0);
                    case GEMINI -> tools.path(0).path("functionDeclarations").path(0);
                };
        String parameters =
                switch (dialect) {
                    case OPENAI, OLLAMA -> "parameters";
                    case ANTHROPIC -> "input_schema";
                    case GEMINI -> "parametersJsonSchema";
                };
        assertThat(tools).hasSize(1);
        assertThat(tool.path("name").asText()).isEqualTo("search");
        assertThat(tool.path("description").asText()).isEqualTo("Searches things.");
        assertThat(tool.path(parameters)).isEqualTo(WireJson.MAPPER.readTree(SCHEMA));
    }

    @ParameterizedTest
    @EnumSource
    void shouldAskForJsonOfAShape(Dialect dialect) throws Exception {
        // given
        ModelRequest request =
                Requests.user("hi").build().answeredWith(new ResponseSchema("search", JsonObject.of(schema())));

        // when
        JsonNode body = sent(dialect, request);

        // then
        JsonNode format =
                switch (dialect) {
                    case OPENAI ->
                        body.path("response_format").path("json_schema").path("schema");
                    case ANTHROPIC -> body.path("output_config").path("format").path("schema");
                    case GEMINI -> body.path("generationConfig").path("responseJsonSchema");
                    case OLLAMA -> body.path("format");
                };
        assertThat(format).isEqualTo(WireJson.MAPPER.readTree(SCHEMA));
    }

    @ParameterizedTest
    @EnumSource
    void shouldShowPictures(Dialect dialect) throws Exception {
        // given
        ModelRequest request =
                new ModelRequest("c", null, List.of(new UserMessage("What is this?", List.of(PIXEL))), List.of());

        // when
        JsonNode body = sent(dialect, request);

        // then
        JsonNode message =
                body.path(dialect == Dialect.GEMINI ? "contents" : "messages").path(0);
        String expected =
                switch (dialect) {
                    case OPENAI ->
                        "[{\"type\":\"text\",\"text\":\"What is this?\"},{\"type\":\"image_url\",\"image_url\":"
                                + "{\"url\":\"data:image/png;base64,iVBORw0KGgo=\",\"detail\":\"low\"}}]";
                    case ANTHROPIC ->
                        "[{\"type\":\"text\",\"text\":\"What is this?\"},{\"type\":\"image\",\"source\":"
                                + "{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"iVBORw0KGgo=\"},"
                                + "\"cache_control\":{\"type\":\"ephemeral\"}}]";
                    case GEMINI ->
                        "[{\"text\":\"What is this?\"},{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":"
                                + "\"iVBORw0KGgo=\"}}]";
                    case OLLAMA -> "[\"iVBORw0KGgo=\"]";
                };
        String member =
                switch (dialect) {
                    case OPENAI, ANTHROPIC -> "content";
                    case GEMINI -> "parts";
                    case OLLAMA -> "images";
                };
        assertThat(message.path(member)).isEqualTo(WireJson.MAPPER.readTree(expected));
    }

    @ParameterizedTest
    @EnumSource
    void shouldSendTheHistoryOfParallelToolCalls(Dialect dialect) throws Exception {
        // given
        ModelRequest request = Requests.system("Be brief.")
                .thenUser("hi")
                .thenCalls(
                        new ToolCallRequest("id-1", "read", Map.of("path", "a.txt")),
                        new ToolCallRequest("id-2", "time", Map.of()))
                .thenResult("id-1", "read", "{\"content\":\"x\"}")
                .thenResult("id-2", "time", "Error: no clock")
                .build();

        // when
        JsonNode body = sent(dialect, request);

        // then
        String expected =
                switch (dialect) {
                    case OPENAI -> """
                            [{"role":"system","content":"Be brief."},{"role":"user","content":"hi"},
                             {"role":"assistant","tool_calls":[
                              {"id":"id-1","type":"function","function":{"name":"read","arguments":"{\\"path\\":\\"a.txt\\"}"}},
                              {"id":"id-2","type":"function","function":{"name":"time","arguments":"{}"}}]},
                             {"role":"tool","tool_call_id":"id-1","content":"{\\"content\\":\\"x\\"}"},
                             {"role":"tool","tool_call_id":"id-2","content":"Error: no clock"}]""";
                    case ANTHROPIC -> """
                            [{"role":"user","content":[{"type":"text","text":"hi"}]},
                             {"role":"assistant","content":[
                              {"type":"tool_use","id":"id-1","name":"read","input":{"path":"a.txt"}},
                              {"type":"tool_use","id":"id-2","name":"time","input":{}}]},
                             {"role":"user","content":[
                              {"type":"tool_result","tool_use_id":"id-1","content":"{\\"content\\":\\"x\\"}"},
                              {"type":"tool_result","tool_use_id":"id-2","content":"Error: no clock",
                               "is_error":true,"cache_control":{"type":"ephemeral"}}]}]""";
                    case GEMINI -> """
                            [{"role":"user","parts":[{"text":"hi"}]},
                             {"role":"model","parts":[
                              {"functionCall":{"id":"id-1","name":"read","args":{"path":"a.txt"}}},
                              {"functionCall":{"id":"id-2","name":"time","args":{}}}]},
                             {"role":"user","parts":[
                              {"functionResponse":{"id":"id-1","name":"read","response":{"response":"{\\"content\\":\\"x\\"}"}}},
                              {"functionResponse":{"id":"id-2","name":"time","response":{"response":"Error: no clock"}}}]}]""";
                    case OLLAMA -> """
                            [{"role":"system","content":"Be brief."},{"role":"user","content":"hi"},
                             {"role":"assistant","tool_calls":[
                              {"id":"id-1","function":{"name":"read","arguments":{"path":"a.txt"}}},
                              {"id":"id-2","function":{"name":"time","arguments":{}}}]},
                             {"role":"tool","tool_name":"read","content":"{\\"content\\":\\"x\\"}"},
                             {"role":"tool","tool_name":"time","content":"Error: no clock"}]""";
                };
        assertThat(body.path(dialect == Dialect.GEMINI ? "contents" : "messages"))
                .isEqualTo(WireJson.MAPPER.readTree(expected));
    }

    @Test
    @DisplayName("Anthropic caches what it is told to: the system prompt, and the conversation so far")
    void shouldAskForTheCache() throws Exception {
        // given
        ModelRequest request = Requests.system("Be brief.").thenUser("hi").build();

        // when
        JsonNode body = sent(Dialect.ANTHROPIC, request);

        // then
        JsonNode mark = WireJson.MAPPER.readTree("{\"type\":\"ephemeral\"}");
        assertThat(body.path("system").path(0).path("cache_control")).isEqualTo(mark);
        assertThat(body.path("messages").path(0).path("content").path(0).path("cache_control"))
                .isEqualTo(mark);
    }

    @Test
    void shouldAskForThinking() throws Exception {
        // given
        ModelRequest asked = Requests.user("hi").build();
        ModelRequest betweenTools =
                Requests.user("hi").thenTool("time", "{\"now\":1}").build();

        // then
        assertThat(sent(Dialect.ANTHROPIC, asked, 2_000, "asked").path("thinking"))
                .isEqualTo(WireJson.MAPPER.readTree("{\"type\":\"enabled\",\"budget_tokens\":2000}"));
        assertThat(sent(Dialect.ANTHROPIC, asked, 9_000, "asked")
                        .path("max_tokens")
                        .asInt())
                .isEqualTo(17_192);
        assertThat(sent(Dialect.ANTHROPIC, betweenTools, 2_000, "asked").has("thinking"))
                .as("the calls came without their thinking, so that it may not be asked for here")
                .isFalse();
        assertThat(sent(Dialect.GEMINI, asked, 2_000, "asked")
                        .path("generationConfig")
                        .path("thinkingConfig"))
                .isEqualTo(WireJson.MAPPER.readTree("{\"includeThoughts\":true,\"thinkingBudget\":2000}"));
        assertThat(sent(Dialect.OLLAMA, asked, 2_000, "asked").path("think").asBoolean())
                .isTrue();
    }

    @Test
    @DisplayName(
            "Anthropic gets the thinking back that led to tool calls, signed and unchanged, and thinks on; nobody else does")
    void shouldSendThinkingBack() throws Exception {
        // given
        String thoughts = "[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s1\"},"
                + "{\"type\":\"redacted_thinking\",\"data\":\"x\"}]";
        ModelRequest request = continued("{\"provider\":\"anthropic\",\"model\":\"asked\",\"parts\":" + thoughts + "}");

        // when
        JsonNode body = sent(Dialect.ANTHROPIC, request, 2_000, "asked");
        JsonNode other = sent(Dialect.ANTHROPIC, request, 2_000, "another");

        // then
        JsonNode turn = body.path("messages").path(1).path("content");
        assertThat(turn.path(0)).isEqualTo(WireJson.MAPPER.readTree(thoughts).path(0));
        assertThat(turn.path(1)).isEqualTo(WireJson.MAPPER.readTree(thoughts).path(1));
        assertThat(turn.path(2).path("type").asText()).isEqualTo("tool_use");
        assertThat(body.path("thinking").path("type").asText()).isEqualTo("enabled");
        assertThat(other.has("thinking")).isFalse();
        assertThat(other.path("messages")
                        .path(1)
                        .path("content")
                        .path(0)
                        .path("type")
                        .asText())
                .isEqualTo("tool_use");
    }

    @Test
    @DisplayName("Gemini gets the signature back with the tool call that it came with")
    void shouldSendSignatureBack() throws Exception {
        ModelRequest request = continued("{\"provider\":\"gemini\",\"model\":\"gemini-3-pro\",\"parts\":[\"sig\"]}");

        JsonNode part = sent(Dialect.GEMINI, request, null, "gemini-3-pro")
                .path("contents")
                .path(1)
                .path("parts")
                .path(0);

        assertThat(part.path("thoughtSignature").asText()).isEqualTo("sig");
    }

    private static ModelRequest continued(String continuation) {
        return new ModelRequest(
                "c",
                null,
                List.of(
                        new UserMessage("hi"),
                        new AssistantMessage(
                                null, List.of(new ToolCallRequest("id-1", "time", Map.of())), continuation),
                        new ToolMessage("id-1", "time", "{\"now\":1}", false)),
                List.of());
    }

    @Test
    @DisplayName("Gemini 3 refuses a history of tool calls without signatures, unless told that there are none")
    void shouldTellGeminiThatThereIsNoSignature() throws Exception {
        // given
        ModelRequest request =
                Requests.user("hi").thenTool("time", "{\"now\":1}").build();

        // when
        JsonNode part = sent(Dialect.GEMINI, request, null, "gemini-3-pro")
                .path("contents")
                .path(1)
                .path("parts")
                .path(0);

        // then
        assertThat(part.has("functionCall")).isTrue();
        assertThat(part.path("thoughtSignature").asText()).isEqualTo("skip_thought_signature_validator");
    }

    @ParameterizedTest
    @EnumSource
    void shouldSendTemperatureAndLimit(Dialect dialect) throws Exception {
        // given
        ModelRequest request =
                new ModelRequest("c", "another", Requests.user("hi").build().messages(), List.of(), 0.25, 77);

        // when
        JsonNode body = sent(dialect, request);

        // then
        JsonNode holder =
                switch (dialect) {
                    case OPENAI, ANTHROPIC -> body;
                    case GEMINI -> body.path("generationConfig");
                    case OLLAMA -> body.path("options");
                };
        String limit =
                switch (dialect) {
                    case OPENAI, ANTHROPIC -> "max_tokens";
                    case GEMINI -> "maxOutputTokens";
                    case OLLAMA -> "num_predict";
                };
        assertThat(holder.path("temperature").asDouble()).isEqualTo(0.25);
        assertThat(holder.path(limit).asInt()).isEqualTo(77);
        if (dialect == Dialect.GEMINI) {
            assertThat(server.requests().getLast().path()).contains("/models/another:");
        } else {
            assertThat(body.path("model").asText()).isEqualTo("another");
        }
        assertThat(body.has("tools")).isFalse();
    }
}
