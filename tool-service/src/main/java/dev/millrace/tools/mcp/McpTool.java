package dev.millrace.tools.mcp;

import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.ToolNames;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A tool of an MCP server as a tool of this service. */
final class McpTool implements CallableTool {

    /** Under this key of {@code _meta} a server finds what is the same on every attempt of a call. */
    static final String IDEMPOTENCY_KEY = "dev.millrace/idempotencyKey";

    private static final String TASK_ID = "dev.millrace/taskId";
    private static final String NAMESPACE = "dev.millrace/namespace";

    private final McpSupervisor supervisor;
    private final String remoteName;
    private final ToolDefinition definition;

    McpTool(McpSupervisor supervisor, McpConnection.RemoteTool remote, Duration timeout) {
        McpServer server = supervisor.server();
        this.supervisor = supervisor;
        this.remoteName = remote.name();
        this.definition = new ToolDefinition(
                ToolNames.of(server.name(), remote.name()),
                ("[" + server.name() + "] " + remote.description()).strip(),
                JsonObject.of(remote.parameters()),
                Topics.BUILT_IN_TOOLSET,
                Objects.requireNonNullElse(server.terms().timeout(), timeout).toMillis(),
                remote.sideEffects(),
                server.terms().approval(),
                null,
                ToolDefinition.OnExpiry.REJECT,
                null);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public String circuit() {
        return "mcp:" + supervisor.server().name();
    }

    @Override
    public @Nullable Object call(JsonObject params, ToolContext context) throws ToolException, InterruptedException {
        return supervisor.call(new McpConnection.Call(
                remoteName,
                params,
                Map.of(IDEMPOTENCY_KEY, context.callId(), TASK_ID, context.taskId(), NAMESPACE, context.namespace())));
    }
}
