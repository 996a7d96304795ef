package dev.millrace.llm.remote;

import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.llm.Secret;
import dev.millrace.llm.remote.RemoteSettings.Timeouts;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.StubModelServer.Answer;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;

/** The same few replies as each provider writes them, by the providers' own documentation. */
enum Dialect {
    OPENAI(
            Provider.OPENAI,
            "/v1",
            "/v1/chat/completions",
            "/v1/chat/completions",
            "authorization",
            "Bearer sk-secret") {
        @Override
        Answer whole() {
            return ok("""
                    {"id":"c1","object":"chat.completion","created":1,"model":"answering","choices":[{"index":0,
                     "message":{"role":"assistant","content":"hello world","reasoning_content":"let me think"},
                     "finish_reason":"stop"}],
                     "usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,
                      "prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":8}}}""");
        }

        @Override
        Answer streamed() {
            return Answer.events(
                    piece("{\"role\":\"assistant\",\"content\":\"\"}"),
                    piece("{\"reasoning_content\":\"let me \"}"),
                    piece("{\"reasoning_content\":\"think\"}"),
                    piece("{\"content\":\"hello \"}"),
                    piece("{\"content\":\"world\"}"),
                    last("stop"),
                    counts(),
                    "[DONE]");
        }

        @Override
        Answer wholeCalls() {
            return ok("""
                    {"id":"c1","model":"answering","choices":[{"index":0,"finish_reason":"tool_calls",
                     "message":{"role":"assistant","content":null,"tool_calls":[
                      {"id":"id-1","type":"function","function":{"name":"find","arguments":"{\\"q\\":\\"a b\\"}"}},
                      {"id":"id-2","type":"function","function":{"name":"time","arguments":"{}"}}]}}]}""");
        }

        @Override
        Answer streamedCalls() {
            return Answer.events(
                    piece("{\"tool_calls\":[{\"index\":0,\"id\":\"id-1\",\"type\":\"function\","
                            + "\"function\":{\"name\":\"find\",\"arguments\":\"\"}}]}"),
                    piece("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"q\\\":\"}}]}"),
                    piece("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"a b\\\"}\"}}]}"),
                    piece("{\"tool_calls\":[{\"index\":1,\"id\":\"id-2\",\"type\":\"function\","
                            + "\"function\":{\"name\":\"time\",\"arguments\":\"{}\"}}]}"),
                    last("tool_calls"),
                    counts(),
                    "[DONE]");
        }

        @Override
        Answer wholeRefusal() {
            return ok("{\"choices\":[{\"message\":{\"role\":\"assistant\",\"refusal\":\"I will not.\"},"
                    + "\"finish_reason\":\"stop\"}]}");
        }

        @Override
        Answer streamedRefusal() {
            return Answer.events(
                    piece("{\"role\":\"assistant\"}"),
                    piece("{\"refusal\":\"I will \"}"),
                    piece("{\"refusal\":\"not.\"}"),
                    last("stop"),
                    "[DONE]");
        }

        @Override
        Answer errorMidway() {
            return Answer.events(
                    piece("{\"content\":\"hello \"}"),
                    "{\"error\":{\"message\":\"busy\",\"type\":\"server_error\",\"code\":503}}");
        }

        private String piece(String delta) {
            return "{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"answering\","
                    + "\"choices\":[{\"index\":0,\"delta\":" + delta + ",\"finish_reason\":null}]}";
        }

        private String last(String reason) {
            return "{\"id\":\"c1\",\"model\":\"answering\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\""
                    + reason + "\"}]}";
        }

        private String counts() {
            return "{\"id\":\"c1\",\"model\":\"answering\",\"choices\":[],\"usage\":{\"prompt_tokens\":100,"
                    + "\"completion_tokens\":20,\"total_tokens\":120,\"prompt_tokens_details\":{\"cached_tokens\":40},"
                    + "\"completion_tokens_details\":{\"reasoning_tokens\":8}}}";
        }
    },

    ANTHROPIC(Provider.ANTHROPIC, "/v1", "/v1/messages", "/v1/messages", "x-api-key", "sk-secret") {
        @Override
        Answer whole() {
            return ok("""
                    {"id":"m1","type":"message","role":"assistant","model":"answering","stop_reason":"end_turn",
                     "content":[{"type":"thinking","thinking":"let me think","signature":"sig"},
                      {"type":"text","text":"hello world"}],
                     "usage":{"input_tokens":50,"cache_creation_input_tokens":10,"cache_read_input_tokens":40,
                      "output_tokens":20}}""");
        }

        @Override
        Answer streamed() {
            return events(
                    START,
                    block(0, "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}"),
                    delta(0, "{\"type\":\"thinking_delta\",\"thinking\":\"let me \"}"),
                    "{\"type\":\"ping\"}",
                    delta(0, "{\"type\":\"thinking_delta\",\"thinking\":\"think\"}"),
                    delta(0, "{\"type\":\"signature_delta\",\"signature\":\"sig\"}"),
                    stop(0),
                    block(1, "{\"type\":\"text\",\"text\":\"\"}"),
                    delta(1, "{\"type\":\"text_delta\",\"text\":\"hello \"}"),
                    delta(1, "{\"type\":\"text_delta\",\"text\":\"world\"}"),
                    stop(1),
                    end("end_turn"),
                    "{\"type\":\"message_stop\"}");
        }

        @Override
        Answer wholeCalls() {
            return ok("""
                    {"id":"m1","type":"message","role":"assistant","model":"answering","stop_reason":"tool_use",
                     "content":[{"type":"tool_use","id":"id-1","name":"find","input":{"q":"a b"}},
                      {"type":"tool_use","id":"id-2","name":"time","input":{}}],
                     "usage":{"input_tokens":1,"output_tokens":1}}""");
        }

        @Override
        Answer streamedCalls() {
            return events(
                    START,
                    block(0, "{\"type\":\"tool_use\",\"id\":\"id-1\",\"name\":\"find\",\"input\":{}}"),
                    delta(0, "{\"type\":\"input_json_delta\",\"partial_json\":\"\"}"),
                    delta(0, "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"q\\\":\"}"),
                    delta(0, "{\"type\":\"input_json_delta\",\"partial_json\":\"\\\"a b\\\"}\"}"),
                    stop(0),
                    block(1, "{\"type\":\"tool_use\",\"id\":\"id-2\",\"name\":\"time\",\"input\":{}}"),
                    delta(1, "{\"type\":\"input_json_delta\",\"partial_json\":\"\"}"),
                    stop(1),
                    end("tool_use"),
                    "{\"type\":\"message_stop\"}");
        }

        @Override
        Answer wholeRefusal() {
            return ok("""
                    {"id":"m1","type":"message","role":"assistant","model":"answering","stop_reason":"refusal",
                     "content":[],"usage":{"input_tokens":1,"output_tokens":1}}""");
        }

        @Override
        Answer streamedRefusal() {
            return events(START, end("refusal"), "{\"type\":\"message_stop\"}");
        }

        @Override
        Answer errorMidway() {
            return events(
                    START,
                    block(0, "{\"type\":\"text\",\"text\":\"\"}"),
                    delta(0, "{\"type\":\"text_delta\",\"text\":\"hello \"}"),
                    "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}");
        }

        private static final String START =
                "{\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"type\":\"message\","
                        + "\"role\":\"assistant\",\"model\":\"answering\",\"content\":[],\"stop_reason\":null,"
                        + "\"usage\":{\"input_tokens\":50,\"cache_creation_input_tokens\":10,\"cache_read_input_tokens\":40,"
                        + "\"output_tokens\":1}}}";

        private String block(int index, String block) {
            return "{\"type\":\"content_block_start\",\"index\":" + index + ",\"content_block\":" + block + "}";
        }

        private String delta(int index, String delta) {
            return "{\"type\":\"content_block_delta\",\"index\":" + index + ",\"delta\":" + delta + "}";
        }

        private String stop(int index) {
            return "{\"type\":\"content_block_stop\",\"index\":" + index + "}";
        }

        private String end(String reason) {
            return "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" + reason
                    + "\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":20}}";
        }

        // named after their types
        private Answer events(String... data) {
            return Answer.stream(
                    "text/event-stream",
                    Stream.of(data)
                            .map(json ->
                                    "event: " + json.substring(9, json.indexOf('"', 9)) + "\ndata: " + json + "\n\n")
                            .toArray(String[]::new));
        }
    },

    GEMINI(
            Provider.GEMINI,
            "/v1beta",
            "/v1beta/models/asked:generateContent",
            "/v1beta/models/asked:streamGenerateContent?alt=sse",
            "x-goog-api-key",
            "sk-secret") {
        @Override
        Answer whole() {
            return ok("{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":["
                    + "{\"text\":\"let me think\",\"thought\":true},{\"text\":\"hello world\"}]},"
                    + "\"finishReason\":\"STOP\",\"index\":0}],"
                    + USAGE + "}");
        }

        @Override
        Answer streamed() {
            return Answer.events(
                    parts("{\"text\":\"let me \",\"thought\":true}", ""),
                    parts("{\"text\":\"think\",\"thought\":true}", ""),
                    parts("{\"text\":\"hello \"}", ""),
                    parts("{\"text\":\"world\"}", "STOP"));
        }

        @Override
        Answer wholeCalls() {
            return ok("{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" + CALLS
                    + "]},\"finishReason\":\"STOP\"}]," + USAGE + "}");
        }

        @Override
        Answer streamedCalls() {
            return Answer.events(parts(CALLS, ""), parts("{\"text\":\"\"}", "STOP"));
        }

        @Override
        Answer wholeRefusal() {
            return ok("{\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"}," + USAGE + "}");
        }

        @Override
        Answer streamedRefusal() {
            return Answer.events("{\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"}," + USAGE + "}");
        }

        @Override
        Answer errorMidway() {
            return Answer.events(
                    parts("{\"text\":\"hello \"}", ""),
                    "{\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}");
        }

        private static final String CALLS =
                "{\"functionCall\":{\"id\":\"id-1\",\"name\":\"find\",\"args\":{\"q\":\"a b\"}}},"
                        + "{\"functionCall\":{\"id\":\"id-2\",\"name\":\"time\",\"args\":{}}}";

        private static final String USAGE =
                "\"modelVersion\":\"answering\",\"usageMetadata\":{\"promptTokenCount\":100,"
                        + "\"cachedContentTokenCount\":40,\"candidatesTokenCount\":12,\"thoughtsTokenCount\":8,"
                        + "\"totalTokenCount\":120}";

        private String parts(String parts, String finish) {
            return "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" + parts + "]}"
                    + (finish.isEmpty() ? "" : ",\"finishReason\":\"" + finish + "\"") + ",\"index\":0}]," + USAGE
                    + "}";
        }
    },

    OLLAMA(Provider.OLLAMA, "", "/api/chat", "/api/chat", "authorization", "Bearer sk-secret") {
        @Override
        Answer whole() {
            return ok(
                    "{\"model\":\"answering\",\"created_at\":\"2026-01-01T00:00:00Z\",\"message\":{\"role\":\"assistant\","
                            + "\"content\":\"hello world\",\"thinking\":\"let me think\"}," + DONE);
        }

        @Override
        Answer streamed() {
            return lines(
                    message("\"content\":\"\",\"thinking\":\"let me \""),
                    message("\"content\":\"\",\"thinking\":\"think\""),
                    message("\"content\":\"hello \""),
                    message("\"content\":\"world\""),
                    done());
        }

        @Override
        Answer wholeCalls() {
            return ok(
                    "{\"model\":\"answering\",\"created_at\":\"2026-01-01T00:00:00Z\",\"message\":{\"role\":\"assistant\","
                            + CALLS + "}," + DONE);
        }

        @Override
        Answer streamedCalls() {
            return lines(message(CALLS), done());
        }

        @Override
        Answer wholeRefusal() {
            return ok("{}"); // Ollama has no word for it
        }

        @Override
        Answer streamedRefusal() {
            return lines("{}");
        }

        @Override
        Answer errorMidway() {
            return lines(
                    message("\"content\":\"hello \""),
                    "{\"error\":\"an error was encountered while running the model\"}");
        }

        private static final String CALLS = "\"content\":\"\",\"tool_calls\":["
                + "{\"function\":{\"name\":\"find\",\"arguments\":{\"q\":\"a b\"}}},"
                + "{\"function\":{\"name\":\"time\",\"arguments\":{}}}]";

        private static final String DONE =
                "\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":100,\"eval_count\":20}";

        private String message(String members) {
            return "{\"model\":\"answering\",\"created_at\":\"2026-01-01T00:00:00Z\",\"message\":{\"role\":\"assistant\","
                    + members + "},\"done\":false}";
        }

        private String done() {
            return "{\"model\":\"answering\",\"created_at\":\"2026-01-01T00:00:00Z\","
                    + "\"message\":{\"role\":\"assistant\",\"content\":\"\"}," + DONE;
        }

        private Answer lines(String... json) {
            return Answer.stream(
                    "application/x-ndjson",
                    Stream.of(json).map(line -> line + "\n").toArray(String[]::new));
        }
    };

    final Provider provider;
    final String wholePath;
    final String streamPath;
    final String keyHeader;
    final String keyValue;
    private final String basePath;

    Dialect(
            Provider provider,
            String basePath,
            String wholePath,
            String streamPath,
            String keyHeader,
            String keyValue) {
        this.provider = provider;
        this.basePath = basePath;
        this.wholePath = wholePath;
        this.streamPath = streamPath;
        this.keyHeader = keyHeader;
        this.keyValue = keyValue;
    }

    /** Thinks "let me think", says "hello world". */
    abstract Answer whole();

    /** The same in pieces. */
    abstract Answer streamed();

    /** Calls {@code find} with q = "a b" and {@code time} without arguments. */
    abstract Answer wholeCalls();

    /** The same in pieces. */
    abstract Answer streamedCalls();

    /** Declines. */
    abstract Answer wholeRefusal();

    /** The same in a stream. */
    abstract Answer streamedRefusal();

    /** Says "hello ", and that it cannot go on. */
    abstract Answer errorMidway();

    /** What {@link #whole} used. */
    Usage usage() {
        return switch (this) {
            case OPENAI, GEMINI -> new Usage(100, 20, 40, 0, 8, null);
            case ANTHROPIC -> new Usage(100, 20, 40, 10, 0, null);
            case OLLAMA -> new Usage(100, 20);
        };
    }

    RemoteModel model(StubModelServer server, Timeouts timeouts) {
        return new RemoteModel(settings(URI.create(server.url() + basePath), timeouts));
    }

    RemoteSettings settings(URI url, Timeouts timeouts) {
        return new RemoteSettings(
                provider, url, new Secret("sk-secret"), provider.keyVariable(), "asked", timeouts, null, null);
    }

    private static Answer ok(String json) {
        return new Answer(200, Map.of(), json, Duration.ZERO, Duration.ZERO);
    }
}
