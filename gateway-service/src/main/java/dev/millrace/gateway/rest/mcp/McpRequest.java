package dev.millrace.gateway.rest.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.gateway.rest.rpc.RpcCall;
import dev.millrace.gateway.rest.rpc.RpcFault;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message of an MCP client.
 *
 * @param id {@code null} = a notification, or an answer to something that nobody has asked: it gets no answer
 * @param stateless whether it is of the protocol without a handshake
 */
record McpRequest(@Nullable JsonNode id, String method, ObjectNode params, boolean stateless) {
    /** Codes of this protocol's own. */
    static final int NOT_THERE = -32002;

    private static final int HEADER_MISMATCH = -32020;
    private static final int MISSING_CAPABILITY = -32021;
    private static final int UNSUPPORTED_VERSION = -32022;

    static final String STATELESS = "2026-07-28";
    /** With a handshake, the newest first. */
    static final List<String> WITH_HANDSHAKE = List.of("2025-11-25", "2025-06-18", "2025-03-26");

    private static final String META = "_meta";
    private static final String VERSION = "io.modelcontextprotocol/protocolVersion";
    private static final String CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
    /** The extension in which a call is answered by a task, and that is asked for later. */
    static final String TASKS = "io.modelcontextprotocol/tasks";

    private static final String EXTENSIONS = "extensions";
    private static final String ENCODED = "=?base64?";
    private static final String ENCODED_END = "?=";
    /** Which member of the parameters the header Mcp-Name repeats. */
    private static final Map<String, String> NAMED = Map.of(
            "tools/call",
            "name",
            "prompts/get",
            "name",
            "resources/read",
            "uri",
            "tasks/get",
            McpCalls.TASK_ID,
            "tasks/update",
            McpCalls.TASK_ID,
            "tasks/cancel",
            McpCalls.TASK_ID);

    /** What the headers say; {@code null} = nothing. */
    record Headers(
            @Nullable String version,
            @Nullable String method,
            @Nullable String name) {}

    /**
     * What a message asks.
     *
     * @throws RpcFault if it does not say what it has to, or its headers say something else than it
     */
    static McpRequest of(RpcCall call, Headers headers) {
        if (call.method().isEmpty()) {
            return new McpRequest(null, "", call.params(), false);
        }
        JsonNode id = call.id();
        ObjectNode given = call.params();
        String inBody = given.path(META).path(VERSION).textValue();
        if (headers.version() != null && inBody != null && !headers.version().equals(inBody)) {
            throw mismatch("MCP-Protocol-Version", inBody, headers.version());
        }
        requireKnown(headers.version());
        requireKnown(inBody);
        boolean stateless = STATELESS.equals(headers.version()) || STATELESS.equals(inBody);
        McpRequest request = new McpRequest(id, call.method(), given, stateless);
        if (stateless && id != null) {
            request.requireMeta();
            request.requireHeaders(headers);
        }
        return request;
    }

    /** All versions, the newest first. */
    static List<String> supported() {
        List<String> all = new ArrayList<>(WITH_HANDSHAKE);
        all.addFirst(STATELESS);
        return all;
    }

    private static void requireKnown(@Nullable String version) {
        if (version != null && !version.equals(STATELESS) && !WITH_HANDSHAKE.contains(version)) {
            throw new RpcFault(
                    400,
                    UNSUPPORTED_VERSION,
                    "Unsupported protocol version",
                    Map.of("supported", supported(), "requested", version));
        }
    }

    /** Of a client that no handshake has introduced, each request says what it is. */
    private void requireMeta() {
        JsonNode meta = params.path(META);
        if (!meta.path(VERSION).isTextual() || !meta.path(CAPABILITIES).isObject()) {
            throw new RpcFault(
                    400,
                    RpcFault.INVALID_PARAMS,
                    "_meta: expected " + VERSION + ", a text, and " + CAPABILITIES + ", an object, found "
                            + (meta.isObject() ? "one of them at most" : "none"),
                    null);
        }
    }

    private void requireHeaders(Headers headers) {
        if (headers.version() == null) {
            throw mismatch("MCP-Protocol-Version", STATELESS, "none");
        }
        if (!method.equals(headers.method())) {
            throw mismatch("Mcp-Method", method, headers.method());
        }
        String member = NAMED.get(method);
        String name = member == null ? null : params.path(member).textValue();
        if (name != null && !name.equals(decoded(headers.name()))) {
            throw mismatch("Mcp-Name", name, headers.name());
        }
    }

    private static @Nullable String decoded(@Nullable String header) {
        if (header == null || !header.startsWith(ENCODED) || !header.endsWith(ENCODED_END)) {
            return header;
        }
        try {
            String text = header.substring(ENCODED.length(), header.length() - ENCODED_END.length());
            return new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException | StringIndexOutOfBoundsException e) {
            return header;
        }
    }

    private static RpcFault mismatch(String header, String body, @Nullable String found) {
        return new RpcFault(
                400,
                HEADER_MISMATCH,
                header + ": expected \"" + body + "\", as in the body, found "
                        + (found == null ? "none" : "\"" + found + "\""),
                null);
    }

    /** A text among the parameters; {@code null} = there is none. */
    @Nullable
    String text(String name) {
        return text(params, name);
    }

    static @Nullable String text(JsonNode object, String name) {
        JsonNode value = object.path(name);
        if (value.isMissingNode() || value.isNull()) {
            return null;
        }
        if (!value.isTextual()) {
            throw RpcFault.params(name + ": expected a text, found something else");
        }
        return value.textValue().isBlank() ? null : value.textValue();
    }

    /** Whether the client takes a task for the answer to a call. */
    boolean takesTasks() {
        return stateless && capability(EXTENSIONS).path(TASKS).isObject();
    }

    /**
     * Returns if the client takes tasks.
     *
     * @throws RpcFault if it has not said so
     */
    void requireTasks() {
        if (!takesTasks()) {
            throw new RpcFault(
                    400,
                    MISSING_CAPABILITY,
                    method + ": expected a client with the extension " + TASKS + ", found one without",
                    Map.of("requiredCapabilities", Map.of(EXTENSIONS, Map.of(TASKS, Map.of()))));
        }
    }

    private JsonNode capability(String name) {
        return params.path(META).path(CAPABILITIES).path(name);
    }

    /** Whether the client can ask its user by a form. */
    boolean canAsk() {
        JsonNode ask = capability("elicitation");
        return stateless && ask.isObject() && (ask.isEmpty() || ask.has("form"));
    }

    /** By what the client wants to hear how far a call is; {@code null} = it does not. */
    @Nullable
    JsonNode progressToken() {
        JsonNode token = params.path(META).path("progressToken");
        return token.isTextual() || token.isIntegralNumber() ? token : null;
    }
}
