package dev.millrace.llm.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelCharge;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.Requests;
import dev.millrace.llm.Secret;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.llm.ToolSpec;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.StubModelServer.Answer;
import dev.millrace.testing.StubModelServer.ToolCall;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class OpenAiTest {

    private static final JsonMapper JSON = new JsonMapper();
    private static final String KEY = "sk-very-secret";
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private volatile Answer answer = Answer.text("hello");
    private final StubModelServer server = StubModelServer.start(request -> answer);

    @AfterEach
    void close() {
        server.close();
    }

    private static RemoteSettings settings(URI baseUrl, @Nullable Secret key, Duration requestTimeout) {
        return new RemoteSettings(
                Provider.OPENAI,
                baseUrl,
                key,
                "OPENAI_API_KEY",
                "test-model",
                new RemoteSettings.Timeouts("models.m.", Duration.ofSeconds(5), requestTimeout, requestTimeout),
                null,
                null);
    }

    private RemoteModel model() {
        return new RemoteModel(settings(server.baseUrl(), new Secret(KEY), PATIENCE));
    }

    private ModelCallException failure() {
        return failureOf(model(), Requests.user("hi").build());
    }

    private static ModelCallException failureOf(RemoteModel model, ModelRequest request) {
        return catchThrowableOfType(ModelCallException.class, () -> model.chat(request));
    }

    private JsonNode sent() throws Exception {
        return JSON.readTree(server.requests().getLast().text());
    }

    @Test
    void shouldSendTheConversationAndReadTheAnswer() throws Exception {
        // when
        ModelReply reply =
                model().chat(Requests.system("Be brief.").thenUser("hi").build());

        // then
        assertThat(reply)
                .isEqualTo(new ModelReply("hello", null, List.of(), FinishReason.STOP, new Usage(10, 5), "stub-model"));
        assertThat(sent().path("model").asText()).isEqualTo("test-model");
        assertThat(sent().path("messages")).isEqualTo(JSON.readTree("""
                        [{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]"""));
        assertThat(server.requests().getLast().path()).isEqualTo("/v1/chat/completions");
        assertThat(server.requests().getLast().headers()).containsEntry("authorization", "Bearer " + KEY);
    }

    @Test
    @DisplayName("the JDK client's h2c upgrade, which small servers choke on, is not sent")
    void shouldNotAskForHttp2() throws Exception {
        // when
        model().chat(Requests.user("hi").build());

        // then
        assertThat(server.requests().getLast().headers()).doesNotContainKeys("upgrade", "http2-settings");
    }

    @Test
    void shouldSendNoKeyIfThereIsNone() throws Exception {
        // given
        RemoteModel model = new RemoteModel(settings(server.baseUrl(), null, PATIENCE));

        // when
        model.chat(Requests.user("hi").build());

        // then
        assertThat(server.requests().getLast().headers()).doesNotContainKey("authorization");
    }

    @Test
    void shouldSendWhatTheRequestAsksFor() throws Exception {
        // given
        ModelRequest request =
                new ModelRequest("c", "another", Requests.user("hi").build().messages(), List.of(), 0.25, 77);

        // when
        model().chat(request);

        // then
        assertThat(sent().path("model").asText()).isEqualTo("another");
        assertThat(sent().path("temperature").asDouble()).isEqualTo(0.25);
        assertThat(sent().path("max_tokens").asInt()).isEqualTo(77);
        assertThat(sent().has("tools")).isFalse();
    }

    @Test
    void shouldSendToolSchemasUnchanged() throws Exception {
        // given
        String schema = """
                {
                  "$schema": "https://json-schema.org/draft/2020-12/schema",
                  "type": "object",
                  "title": "Search",
                  "properties": {
                    "mode": {"type": "string", "enum": ["exact", "fuzzy"], "description": "how", "default": "exact"},
                    "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 100},
                    "filters": {
                      "type": "array", "minItems": 1,
                      "items": {
                        "type": "object",
                        "properties": {"field": {"type": "string", "pattern": "^[a-z]+$"}, "range": {"$ref": "#/$defs/range"}},
                        "required": ["field"], "additionalProperties": false
                      }
                    },
                    "headers": {"type": "object", "additionalProperties": {"type": "string"}},
                    "either": {"oneOf": [{"type": "string"}, {"type": "number", "const": 1.5}]}
                  },
                  "required": ["mode", "filters"],
                  "additionalProperties": false,
                  "$defs": {"range": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}]}},
                  "minProperties": 2
                }
                """;
        Map<String, @Nullable Object> parameters = Json.readObject(schema.getBytes(StandardCharsets.UTF_8));

        // when
        model().chat(Requests.user("hi")
                .offering(new ToolSpec("search", "Searches things.", JsonObject.of(parameters)))
                .build());

        // then
        JsonNode tool = sent().path("tools").path(0);
        assertThat(sent().path("tools")).hasSize(1);
        assertThat(tool.path("type").asText()).isEqualTo("function");
        assertThat(tool.path("function").path("name").asText()).isEqualTo("search");
        assertThat(tool.path("function").path("description").asText()).isEqualTo("Searches things.");
        assertThat(tool.path("function").path("parameters")).isEqualTo(JSON.readTree(schema));
    }

    @Test
    void shouldSendTheHistoryOfToolCallsAndResults() throws Exception {
        // given
        ModelRequest request = Requests.user("hi")
                .thenCalls(
                        new ToolCallRequest("id-1", "read", Map.of("path", "a.txt")),
                        new ToolCallRequest("id-2", "read", Map.of(), "{\"path\": oops"))
                .thenResult("id-1", "read", "{\"content\":\"x\"}")
                .thenResult("id-2", "read", "Error: INVALID JSON ARGUMENTS")
                .build();

        // when
        model().chat(request);

        // then
        JsonNode messages = sent().path("messages");
        assertThat(messages.path(1).path("role").asText()).isEqualTo("assistant");
        assertThat(messages.path(1).path("tool_calls").path(0)).isEqualTo(JSON.readTree("""
                        {"id":"id-1","type":"function","function":{"name":"read","arguments":"{\\"path\\":\\"a.txt\\"}"}}"""));
        assertThat(messages.path(1)
                        .path("tool_calls")
                        .path(1)
                        .path("function")
                        .path("arguments")
                        .asText())
                .isEqualTo("{}");
        assertThat(messages.path(2)).isEqualTo(JSON.readTree("""
                        {"role":"tool","tool_call_id":"id-1","content":"{\\"content\\":\\"x\\"}"}"""));
        assertThat(messages.path(3).path("content").asText()).isEqualTo("Error: INVALID JSON ARGUMENTS");
    }

    @Test
    void shouldReadSeveralToolCalls() throws Exception {
        // given
        answer = Answer.toolCalls(
                new ToolCall("id-1", "read_file", "{\"path\":\"a\",\"deep\":{\"n\":1.5,\"none\":null}}"),
                new ToolCall("id-2", "current_time", ""));

        // when
        ModelReply reply = model().chat(Requests.user("hi").build());

        // then
        assertThat(reply.text()).isNull();
        assertThat(reply.finishReason()).isEqualTo(FinishReason.TOOL_CALLS);
        assertThat(reply.toolCalls()).extracting(ToolCallRequest::toolCallId).containsExactly("id-1", "id-2");
        assertThat(reply.toolCalls().get(0).arguments()).hasToString("{path=a, deep={n=1.5, none=null}}");
        assertThat(reply.toolCalls().get(1).arguments()).isEmpty();
        assertThat(reply.toolCalls().get(1).malformedArguments()).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"{\"path\": ", "[1]", "\"text\"", "null", "{} {}", "nonsense"})
    @DisplayName("F-301: arguments that are no JSON object do not lose the reply")
    void shouldKeepAReplyWithMalformedArguments(String arguments) throws Exception {
        // given
        answer = Answer.toolCalls(new ToolCall("id-1", "read_file", arguments));

        // when
        ModelReply reply = model().chat(Requests.user("hi").build());

        // then
        assertThat(reply.toolCalls())
                .containsExactly(new ToolCallRequest("id-1", "read_file", Map.of(), arguments.strip()));
    }

    @Test
    void shouldGiveAnIdToACallWithoutOneAndReadAVagueFinishReason() throws Exception {
        // given
        answer = Answer.message(
                "stop",
                Map.of(
                        "role",
                        "assistant",
                        "tool_calls",
                        List.of(Map.of(
                                "id", "", "type", "function", "function", Map.of("name", "t", "arguments", "{}")))));

        // when
        ModelReply reply = model().chat(Requests.user("hi").callId("c").build());

        // then
        assertThat(reply.toolCalls().getFirst().toolCallId()).isEqualTo(ToolCallRequest.derivedId("c", 0));
        assertThat(reply.finishReason()).isEqualTo(FinishReason.TOOL_CALLS);
    }

    @Test
    void shouldReadACallWithoutATypeAndWithArgumentsThatAreNoText() throws Exception {
        // given
        answer = Answer.message(
                "tool_calls",
                Map.of(
                        "role",
                        "assistant",
                        "tool_calls",
                        List.of(Map.of("id", "id-1", "function", Map.of("name", "t", "arguments", Map.of("a", 1))))));

        // when
        ModelReply reply = model().chat(Requests.user("hi").build());

        // then
        assertThat(reply.toolCalls()).containsExactly(new ToolCallRequest("id-1", "t", Map.of("a", 1)));
    }

    @Test
    void shouldKeepReasoningApart() throws Exception {
        // given
        answer = Answer.message(
                "length", Map.of("role", "assistant", "content", "so", "reasoning_content", "let me think"));

        // when
        ModelReply reply = model().chat(Requests.user("hi").build());

        // then
        assertThat(reply.text()).isEqualTo("so");
        assertThat(reply.reasoning()).isEqualTo("let me think");
        assertThat(reply.finishReason()).isEqualTo(FinishReason.LENGTH);
    }

    @Test
    void shouldDoWithoutUsage() throws Exception {
        // given
        answer = Answer.json(Map.of(
                "choices",
                List.of(Map.of("message", Map.of("role", "assistant", "content", "x"), "finish_reason", "stop"))));

        // when
        ModelReply reply = model().chat(Requests.user("hi").build());

        // then
        assertThat(reply.usage()).isEqualTo(Usage.NONE);
        assertThat(reply.model()).isEqualTo("test-model");
    }

    @Test
    void shouldSendBlankTextsAsSomethingThatProvidersAccept() throws Exception {
        // when
        ModelReply reply = model().chat(Requests.system(" ")
                .thenUser("  ")
                .thenTool("t", "")
                .thenUser("more")
                .build());

        // then
        assertThat(reply.text()).isEqualTo("hello");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            400 | invalid_value           | bad temperature                              | BAD_REQUEST       | false
            400 | context_length_exceeded | maximum context length is 8192 tokens        | CONTEXT_OVERFLOW  | false
            400 | invalid_request_error   | the prompt is too long: 9000 tokens          | CONTEXT_OVERFLOW  | false
            400 | content_filter          | triggering Azure's content management policy | CONTENT_FILTERED  | false
            401 | invalid_api_key         | Incorrect API key provided: sk-very-secret   | AUTH_FAILED       | false
            403 | forbidden               | not for you                                  | AUTH_FAILED       | false
            404 | model_not_found         | no such model                                | MODEL_NOT_FOUND   | false
            408 | timeout                 | took too long                                | TIMEOUT           | true
            422 | unprocessable           | key sk-very-secret is funny                  | BAD_REQUEST       | false
            429 | rate_limit_exceeded     | slow down                                    | RATE_LIMITED      | true
            429 | insufficient_quota      | you have spent it all                        | RATE_LIMITED      | false
            500 | server_error            | oops                                         | MODEL_UNAVAILABLE | true
            503 | overloaded              | busy                                         | MODEL_UNAVAILABLE | true
            529 | overloaded              | very busy                                    | MODEL_UNAVAILABLE | true
            302 | moved                   | elsewhere                                    | BAD_REQUEST       | false
            """)
    void shouldSayWhatARefusalMeans(int status, String code, String message, ModelErrorCode meaning, boolean again) {
        // given
        answer = Answer.error(status, code, message);

        // when
        ModelCallException failure = failure();

        // then
        assertThat(failure.code()).isEqualTo(meaning);
        assertThat(failure.retryable()).isEqualTo(again);
        assertThat(failure).hasMessageContaining("HTTP " + status).hasMessageNotContaining(KEY);
        assertThat(server.calls())
                .as("one request, since the dispatcher retries")
                .isEqualTo(1);
    }

    @Test
    void shouldNameTheVariableOfAWrongKey() {
        // given
        answer = Answer.error(401, "invalid_api_key", "no");

        // when
        ModelCallException failure = failure();

        // then
        assertThat(failure).hasMessageEndingWith("answered HTTP 401: it does not accept the key; check OPENAI_API_KEY");
    }

    @Test
    void shouldNameTheVariableOfAMissingKey() {
        // given
        answer = Answer.error(401, "invalid_api_key", "no");
        RemoteModel model = new RemoteModel(settings(server.baseUrl(), null, PATIENCE));

        // when
        ModelCallException failure = failureOf(model, Requests.user("hi").build());

        // then
        assertThat(failure).hasMessageEndingWith("wants a key; set OPENAI_API_KEY");
    }

    @ParameterizedTest
    @CsvSource({
        "Retry-After, 7, 7000",
        "retry-after, 0.25, 250",
        "retry-after-ms, 1500, 1500",
        "Retry-After, 99999999999, 86400000",
        "Retry-After, 'Fri, 31 Dec 9999 23:59:59 GMT', 86400000",
        "Retry-After, 'Mon, 01 Jan 2001 00:00:00 GMT', 0",
        "Retry-After, soon,",
        "Retry-After, '',"
    })
    void shouldReadHowLongTheProviderWantsUsToWait(String header, String value, @Nullable Long millis) {
        // given
        answer = Answer.error(429, "rate_limit_exceeded", "slow down").with(header, value);

        // when
        ModelCallException failure = failure();

        // then
        assertThat(failure.retryAfter()).isEqualTo(millis == null ? null : Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {"<html>hello</html>", "{", "[]", "{}", "{\"choices\":[]}", "{\"choices\":[{}]}", "''"})
    void shouldTakeAReplyThatIsNoChatCompletionForABadResponse(String body) {
        // given
        answer = new Answer(200, Map.of(), body, Duration.ZERO, Duration.ZERO);

        // when
        ModelCallException failure = failure();

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.BAD_RESPONSE);
        assertThat(failure.retryable()).isTrue();
    }

    @Test
    void shouldTellARefusalOfTheModelAndAFilteredReply() {
        // given
        answer = Answer.message("stop", Map.of("role", "assistant", "refusal", "I will not."));
        ModelCallException refused = failure();
        answer = Answer.message("content_filter", Map.of("role", "assistant", "content", ""));

        // when
        ModelCallException filtered = failure();

        // then
        assertThat(refused.code()).isEqualTo(ModelErrorCode.REFUSED);
        assertThat(filtered.code()).isEqualTo(ModelErrorCode.CONTENT_FILTERED);
        assertThat(List.of(refused, filtered))
                .as("it is paid for all the same")
                .extracting(ModelCallException::charge)
                .containsOnly(new ModelCharge("stub-model", new ModelReply.Usage(10, 5)));
    }

    @Test
    void shouldCallAnEndpointThatHangsUpUnavailable() {
        // given
        answer = Answer.hangUp();

        // when
        ModelCallException failure = failure();

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.MODEL_UNAVAILABLE);
        assertThat(failure.retryable()).isTrue();
    }

    @Test
    void shouldCallAnEndpointThatIsNotThereUnavailable() throws Exception {
        // given
        URI nowhere;
        try (ServerSocket socket = new ServerSocket(0)) {
            nowhere = URI.create("http://127.0.0.1:" + socket.getLocalPort() + "/v1");
        }
        RemoteModel model = new RemoteModel(settings(nowhere, new Secret(KEY), PATIENCE));

        // when
        ModelCallException failure = failureOf(model, Requests.user("hi").build());

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.MODEL_UNAVAILABLE);
        assertThat(failure).hasMessageStartingWith("cannot reach " + nowhere);
    }

    @ParameterizedTest
    @CsvSource({"before the headers", "before the body"})
    void shouldTimeOutAndHangUp(String where) throws Exception {
        // given
        answer = late(where);
        RemoteModel model = new RemoteModel(settings(server.baseUrl(), new Secret(KEY), Duration.ofMillis(200)));

        // when
        ModelCallException failure = failureOf(model, Requests.user("hi").build());

        // then
        assertThat(failure.code()).isEqualTo(ModelErrorCode.TIMEOUT);
        assertThat(failure).hasMessageContaining("within 200 ms (millrace.llm.models.m.request-timeout)");
        assertThat(server.awaitAbandoned(1, PATIENCE)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"before the headers", "before the body"})
    void shouldCloseTheRequestWhenInterrupted(String where) throws Exception {
        // given
        answer = late(where);
        CompletableFuture<ModelCallException> failure = new CompletableFuture<>();
        Thread caller = Thread.ofVirtual()
                .start(() ->
                        failure.complete(failureOf(model(), Requests.user("hi").build())));
        server.awaitCalls(1, PATIENCE);

        // when
        caller.interrupt();

        // then
        assertThat(failure.get(20, TimeUnit.SECONDS).code()).isEqualTo(ModelErrorCode.CANCELLED);
        assertThat(server.awaitAbandoned(1, PATIENCE)).isTrue();
    }

    private static Answer late(String where) {
        return where.equals("before the headers")
                ? Answer.text("late").after(Duration.ofMinutes(10))
                : Answer.text("late").bodyAfter(Duration.ofMinutes(10));
    }
}
