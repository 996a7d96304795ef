package dev.millrace.gateway.rest.mcp;

import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.Memory;
import dev.millrace.gateway.kafka.MemoryVersion;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.rpc.RpcFault;
import dev.millrace.gateway.rest.turns.ExposedAgents;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.JsonObject;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What an MCP client can ask that is answered at once. */
@Singleton
class McpDoor {
    /** That nothing more has to be done, in the stateless protocol. */
    static final String COMPLETE = "complete";

    private static final int PAGE = 200;
    /** After so long a client may ask again which tools there are. */
    private static final long FRESH_MS = 10_000;

    private static final String PRIVATE = "private";
    private static final String EXPOSED = "mcp";
    private static final String MEMORY = "memory:///";
    private static final String MARKDOWN = "text/markdown";
    private static final McpMessage.Implementation US =
            new McpMessage.Implementation("millrace", "Millrace", version());
    private static final JsonObject CAPABILITIES =
            JsonObject.of(Map.of("tools", JsonObject.empty(), "resources", JsonObject.empty()));
    private static final JsonObject WITH_EXTENSIONS = JsonObject.builder()
            .putAll(CAPABILITIES)
            .put("extensions", Map.of(McpRequest.TASKS, JsonObject.empty()))
            .build();
    private static final String INSTRUCTIONS =
            "Each tool is an agent that does what it is told in plain words, and may take minutes. What comes back names"
                    + " its task (_meta millrace/taskId). The resources are what agents remember.";

    private final ExposedAgents agents;
    private final Memory memory;
    private final McpTasks tasks;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    McpDoor(ExposedAgents agents, Memory memory, McpTasks tasks, Access access, GatewayConfig config) {
        this.agents = agents;
        this.memory = memory;
        this.tasks = tasks;
        this.access = access;
        this.config = config;
    }

    private static String version() {
        String version = McpDoor.class.getPackage().getImplementationVersion();
        return version == null ? "0" : version;
    }

    /** What this method answers; {@code null} = there is no such method here. */
    McpMessage.@Nullable Result answer(McpRequest request, String namespace)
            throws QueryUnavailableException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        boolean stateless = request.stateless();
        return switch (request.method()) {
            case "initialize" -> stateless ? null : initialized(request);
            case "ping" -> stateless ? null : new McpMessage.Done(null, null);
            case "server/discover" -> discovered();
            case "tools/list" -> tools(stateless);
            case "resources/list" -> resources(request, readable(namespace));
            case "resources/templates/list" ->
                new McpMessage.ResourceTemplates(
                        complete(stateless), fresh(stateless), scope(stateless), List.of(), meta(stateless));
            case "resources/read" -> contents(request, readable(namespace));
            default -> tasks.answer(request, namespace);
        };
    }

    private static McpMessage.Initialized initialized(McpRequest request) {
        String wanted = request.text("protocolVersion");
        return new McpMessage.Initialized(
                wanted != null && McpRequest.WITH_HANDSHAKE.contains(wanted)
                        ? wanted
                        : McpRequest.WITH_HANDSHAKE.getFirst(),
                CAPABILITIES,
                US,
                INSTRUCTIONS);
    }

    private static McpMessage.Discovered discovered() {
        return new McpMessage.Discovered(
                COMPLETE, McpRequest.supported(), WITH_EXTENSIONS, INSTRUCTIONS, FRESH_MS, PRIVATE, us());
    }

    private static McpMessage.Meta us() {
        return new McpMessage.Meta(US, null);
    }

    private static @Nullable String complete(boolean stateless) {
        return stateless ? COMPLETE : null;
    }

    private static @Nullable Long fresh(boolean stateless) {
        return stateless ? FRESH_MS : null;
    }

    private static @Nullable String scope(boolean stateless) {
        return stateless ? PRIVATE : null;
    }

    private static McpMessage.@Nullable Meta meta(boolean stateless) {
        return stateless ? us() : null;
    }

    private McpMessage.Tools tools(boolean stateless) throws QueryUnavailableException, InterruptedException {
        List<McpMessage.Tool> tools = agents.by(EXPOSED).stream()
                .map(agent -> new McpMessage.Tool(agent.name(), agent.name(), agent.description(), schema()))
                .toList();
        return new McpMessage.Tools(complete(stateless), fresh(stateless), scope(stateless), tools, meta(stateless));
    }

    /** Whether there is an agent of this name that is a tool. */
    boolean hasTool(String name) throws QueryUnavailableException, InterruptedException {
        return agents.by(EXPOSED, name).isPresent();
    }

    private static JsonObject schema() {
        JsonObject properties = JsonObject.builder()
                .put(McpCalls.TEXT, text("What the agent is to do, in plain words, or the answer to its question."))
                .put(
                        McpCalls.TASK_ID,
                        text(
                                "A task that asked something, or has ended: it goes on with the text. Absent = a new task."))
                .put(McpCalls.SESSION_ID, text("The conversation of a new task. Absent = one of its own."))
                .build();
        return JsonObject.builder()
                .put("type", "object")
                .put("properties", properties)
                .put("required", List.of(McpCalls.TEXT))
                .put("additionalProperties", false)
                .build();
    }

    private static JsonObject text(String description) {
        return JsonObject.builder()
                .put("type", "string")
                .put("description", description)
                .build();
    }

    /** The namespace, if the caller may read there: they have been let in as one who writes. */
    private String readable(String namespace) {
        access.require(namespace, Permission.READ);
        return namespace;
    }

    private McpMessage.Resources resources(McpRequest request, String namespace)
            throws BrokerUnavailableException, InterruptedException {
        String cursor = request.text("cursor");
        List<MemoryVersion> found =
                memory.documents(namespace, cursor == null ? "" : cursor, PAGE + 1, config.produceTimeout());
        List<MemoryVersion> page = found.subList(0, Math.min(PAGE, found.size()));
        boolean stateless = request.stateless();
        return new McpMessage.Resources(
                complete(stateless),
                fresh(stateless),
                scope(stateless),
                page.stream().map(McpDoor::resource).toList(),
                found.size() > PAGE ? page.getLast().path() : null,
                meta(stateless));
    }

    private static McpMessage.Resource resource(MemoryVersion document) {
        return new McpMessage.Resource(
                uri(document.path()), document.path(), document.summary(), MARKDOWN, document.size());
    }

    private static String uri(String path) {
        return MEMORY
                + Arrays.stream(path.split("/", -1))
                        .map(step ->
                                URLEncoder.encode(step, StandardCharsets.UTF_8).replace("+", "%20"))
                        .collect(Collectors.joining("/"));
    }

    private McpMessage.Contents contents(McpRequest request, String namespace)
            throws BrokerUnavailableException, InterruptedException {
        String uri = request.text("uri");
        Memory.Content found = uri == null || !uri.startsWith(MEMORY)
                ? null
                : memory.read(namespace, path(uri), config.produceTimeout()).orElse(null);
        if (uri == null || found == null) {
            throw new RpcFault(
                    200,
                    request.stateless() ? RpcFault.INVALID_PARAMS : McpRequest.NOT_THERE,
                    "Resource not found",
                    uri == null ? null : Map.of("uri", uri));
        }
        boolean stateless = request.stateless();
        return new McpMessage.Contents(
                complete(stateless),
                fresh(stateless),
                scope(stateless),
                List.of(new McpMessage.Content(uri, MARKDOWN, found.content())),
                meta(stateless));
    }

    private static String path(String uri) {
        try {
            return URLDecoder.decode(uri.substring(MEMORY.length()).replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw RpcFault.params("uri: expected one of resources/list, found another one");
        }
    }
}
