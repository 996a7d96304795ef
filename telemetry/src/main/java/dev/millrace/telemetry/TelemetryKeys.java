package dev.millrace.telemetry;

/**
 * The names of OpenTelemetry's conventions that are used here: those for generative AI, still in development, and for
 * HTTP.
 */
public final class TelemetryKeys {

    public static final String OPERATION_NAME = "gen_ai.operation.name";
    public static final String PROVIDER_NAME = "gen_ai.provider.name";
    public static final String REQUEST_MODEL = "gen_ai.request.model";
    public static final String RESPONSE_MODEL = "gen_ai.response.model";
    public static final String FINISH_REASONS = "gen_ai.response.finish_reasons";
    public static final String INPUT_TOKENS = "gen_ai.usage.input_tokens";
    public static final String OUTPUT_TOKENS = "gen_ai.usage.output_tokens";
    public static final String CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens";
    public static final String CONVERSATION_ID = "gen_ai.conversation.id";
    public static final String AGENT_NAME = "gen_ai.agent.name";
    public static final String TOOL_NAME = "gen_ai.tool.name";
    public static final String TOOL_CALL_ID = "gen_ai.tool.call.id";
    public static final String TOOL_TYPE = "gen_ai.tool.type";
    public static final String TOKEN_TYPE = "gen_ai.token.type";
    public static final String ERROR_TYPE = "error.type";

    /** Content: only where it is asked for. */
    public static final String INPUT_MESSAGES = "gen_ai.input.messages";

    public static final String OUTPUT_MESSAGES = "gen_ai.output.messages";
    public static final String TOOL_ARGUMENTS = "gen_ai.tool.call.arguments";
    public static final String TOOL_RESULT = "gen_ai.tool.call.result";

    public static final String CHAT = "chat";
    public static final String EXECUTE_TOOL = "execute_tool";
    public static final String INVOKE_AGENT = "invoke_agent";

    public static final String HTTP_METHOD = "http.request.method";
    public static final String HTTP_ROUTE = "http.route";
    public static final String HTTP_STATUS = "http.response.status_code";
    public static final String URL_PATH = "url.path";

    /** Our own: where the convention has no name. */
    public static final String TASK_ID = "millrace.task.id";

    public static final String CALL_ID = "millrace.call.id";
    public static final String ATTEMPTS = "millrace.call.attempts";

    private TelemetryKeys() {}
}
