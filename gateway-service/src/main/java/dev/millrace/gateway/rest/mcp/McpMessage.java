package dev.millrace.gateway.rest.mcp;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.JsonObject;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What goes to an MCP client: messages of JSON-RPC. */
sealed interface McpMessage {
    String VERSION = "2.0";

    /** The answer to a request. */
    record Answer(String jsonrpc, JsonNode id, Result result) implements McpMessage {
        Answer(JsonNode id, Result result) {
            this(VERSION, id, result);
        }
    }

    /** How far a call is. */
    record Progress(String jsonrpc, String method, ProgressParams params) implements McpMessage {
        Progress(JsonNode token, long progress, String message) {
            this(VERSION, "notifications/progress", new ProgressParams(token, progress, message));
        }
    }

    record ProgressParams(JsonNode progressToken, long progress, String message) {}

    /** What a method answers. Members that only the stateless protocol has are {@code null} in the other one. */
    sealed interface Result {}

    /**
     * What a result says beside what its method prescribes.
     *
     * @param serverInfo who answers; only the stateless protocol asks for it with every result
     * @param taskId the task that worked on a call
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Meta(
            @JsonProperty("io.modelcontextprotocol/serverInfo") @Nullable
            Implementation serverInfo,

            @JsonProperty("millrace/taskId") @Nullable String taskId) {}

    /** Nothing but that it was done. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Done(
            @Nullable String resultType,
            @JsonProperty("_meta") @Nullable Meta meta) implements Result {}

    /** Who is here, to one who shakes hands. */
    record Initialized(String protocolVersion, JsonObject capabilities, Implementation serverInfo, String instructions)
            implements Result {}

    record Implementation(String name, String title, String version) {}

    /** Who is here, to one who does not. */
    record Discovered(
            String resultType,
            List<String> supportedVersions,
            JsonObject capabilities,
            String instructions,
            long ttlMs,
            String cacheScope,
            @JsonProperty("_meta") Meta meta)
            implements Result {}

    /** The tools. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Tools(
            @Nullable String resultType,
            @Nullable Long ttlMs,
            @Nullable String cacheScope,
            List<Tool> tools,
            @JsonProperty("_meta") @Nullable Meta meta)
            implements Result {}

    /** An agent. */
    record Tool(String name, String title, String description, Object inputSchema) {}

    /** Documents of memory. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Resources(
            @Nullable String resultType,
            @Nullable Long ttlMs,
            @Nullable String cacheScope,
            List<Resource> resources,
            @Nullable String nextCursor,
            @JsonProperty("_meta") @Nullable Meta meta)
            implements Result {}

    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Resource(String uri, String name, @Nullable String description, String mimeType, long size) {}

    /** There are no templates; some clients ask. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record ResourceTemplates(
            @Nullable String resultType,
            @Nullable Long ttlMs,
            @Nullable String cacheScope,
            List<Object> resourceTemplates,
            @JsonProperty("_meta") @Nullable Meta meta)
            implements Result {}

    /** A document of memory. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Contents(
            @Nullable String resultType,
            @Nullable Long ttlMs,
            @Nullable String cacheScope,
            List<Content> contents,
            @JsonProperty("_meta") @Nullable Meta meta)
            implements Result {}

    record Content(String uri, String mimeType, String text) {}

    /** What came of a call. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Called(
            @Nullable String resultType,
            List<Text> content,
            boolean isError,
            @JsonProperty("_meta") Meta meta) implements Result {}

    record Text(String type, String text) {
        Text(String text) {
            this("text", text);
        }
    }

    /** A call that needs somebody: its client asks them, and calls again with what they say. */
    record InputRequired(
            String resultType,
            Map<String, InputRequest> inputRequests,
            String requestState,
            @JsonProperty("_meta") Meta meta)
            implements Result {}

    /**
     * A call that has become a task, and how that stands.
     *
     * @param resultType that a call was answered by a task, or that nothing more has to be done
     * @param createdAt like {@code lastUpdatedAt} in RFC 3339
     * @param ttlMs {@code null} = nobody says how long the task can be asked for
     * @param result only if it has come to one
     * @param inputRequests only if it waits for the client's user
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record TaskState(
            String resultType,
            String taskId,
            Status status,
            @Nullable String statusMessage,
            String createdAt,
            String lastUpdatedAt,

            @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable
            Long ttlMs,

            long pollIntervalMs,
            @Nullable Called result,
            @Nullable Map<String, InputRequest> inputRequests,
            @JsonProperty("_meta") @Nullable Meta meta)
            implements Result {}

    /** How a task stands, in the words of the wire. */
    enum Status {
        working,
        input_required,
        completed,
        cancelled
    }

    record InputRequest(String method, Form params) {
        InputRequest(String message, Object requestedSchema) {
            this("elicitation/create", new Form("form", message, requestedSchema));
        }
    }

    record Form(String mode, String message, Object requestedSchema) {}
}
