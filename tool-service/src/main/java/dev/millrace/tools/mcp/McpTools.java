package dev.millrace.tools.mcp;

import dev.millrace.tools.CallableTool;
import dev.millrace.tools.ToolNames;
import dev.millrace.tools.ToolSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tools of all configured MCP servers. A server that cannot be started or does not list its tools is logged and
 * tried again later; the others are not concerned.
 */
public final class McpTools implements ToolSource, AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(McpTools.class);

    private final List<McpSupervisor> supervisors;
    private final Duration callTimeout;
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private volatile Map<String, CallableTool> tools = Map.of();

    /**
     * Tools that are not there before {@link #start}.
     *
     * @param callTimeout how long one call may take, where the configuration says nothing else
     * @param startLimit how long a server may take to start and to list its tools
     * @param version what servers are told that this is
     */
    public McpTools(McpConfiguration configuration, Duration callTimeout, Duration startLimit, String version) {
        this(
                configuration,
                callTimeout,
                startLimit,
                (server, limit, toolsChanged) -> SdkConnection.open(server, limit, toolsChanged, version));
    }

    McpTools(
            McpConfiguration configuration, Duration callTimeout, Duration startLimit, McpConnection.Opener connector) {
        this.callTimeout = callTimeout;
        this.supervisors = configuration.servers().stream()
                .map(server -> new McpSupervisor(server, connector, startLimit, this::rebuild))
                .toList();
        configuration
                .rejected()
                .forEach((server, why) -> LOGGER.atError()
                        .addKeyValue("server", server)
                        .addKeyValue("reason", why)
                        .log("An MCP server's configuration is of no use and is skipped"));
    }

    /** Starts all servers, and returns at once. Once. */
    public void start() {
        supervisors.forEach(McpSupervisor::start);
    }

    @Override
    public List<CallableTool> tools() {
        return List.copyOf(tools.values());
    }

    @Override
    public Optional<CallableTool> find(String name) {
        return Optional.ofNullable(tools.get(name));
    }

    @Override
    public Optional<CallableTool> await(String name) throws InterruptedException {
        for (McpSupervisor supervisor : supervisors) {
            if (ToolNames.mayBeOf(supervisor.server().name(), name)) {
                supervisor.awaitTools();
            }
        }
        return find(name);
    }

    @Override
    public boolean mayGet(String name) {
        return supervisors.stream()
                .anyMatch(supervisor -> !supervisor.isListed()
                        && ToolNames.mayBeOf(supervisor.server().name(), name));
    }

    @Override
    public void onChange(Runnable listener) {
        listeners.add(listener);
    }

    private void rebuild() {
        synchronized (supervisors) {
            Map<String, CallableTool> all = new TreeMap<>();
            for (McpSupervisor supervisor : supervisors) {
                for (McpConnection.RemoteTool remote : supervisor.tools()) {
                    add(all, supervisor, remote);
                }
            }
            tools = all;
        }
        listeners.forEach(Runnable::run);
    }

    private void add(Map<String, CallableTool> all, McpSupervisor supervisor, McpConnection.RemoteTool remote) {
        McpTool tool;
        try {
            tool = new McpTool(supervisor, remote, callTimeout);
        } catch (IllegalArgumentException e) {
            LOGGER.atWarn()
                    .addKeyValue("server", supervisor.server().name())
                    .addKeyValue("reason", e.getMessage())
                    .log("An MCP server describes a tool in a way that is of no use, it is left out");
            return;
        }
        if (all.putIfAbsent(tool.definition().name(), tool) != null) {
            LOGGER.atWarn()
                    .addKeyValue("server", supervisor.server().name())
                    .addKeyValue("toolName", tool.definition().name())
                    .log("An MCP server lists a tool twice, the second one is left out");
        }
    }

    /** Ends all servers. */
    @Override
    public void close() {
        List<Thread> closing = new ArrayList<>();
        supervisors.forEach(supervisor -> closing.add(Thread.ofVirtual().start(supervisor::close)));
        try {
            for (Thread each : closing) {
                each.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
