package dev.millrace.tools.mcp;

import dev.millrace.schemas.Backoff;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.ForeignFailure;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one server at work, on a thread of its own: connects, lists the tools, lists them again when the server says
 * that they have changed, and connects anew when the connection is lost, at once the first time and then with growing
 * pauses. What it last knew of the tools stays known while the server is away.
 */
final class McpSupervisor implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(McpTools.class);

    private static final String UNAVAILABLE = "mcp_unavailable";
    private static final String TOOL_ERROR = "mcp_tool_error";
    private static final String REFUSED = "mcp_refused";

    /** How long a call waits for a server that is being started, before it gives up. */
    private static final Duration PATIENCE = Duration.ofSeconds(15);
    /** A server that could not be connected to so often in a row is taken to be broken; calls fail at once then. */
    private static final int BROKEN = 2;
    /** A server that was lost is taken to be starting again for so long, however often it refuses meanwhile. */
    private static final Duration RESTART = Duration.ofSeconds(30);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(64);
    /** A connection that lived shorter than this is followed by a pause, as a failed attempt is. */
    private static final Duration SETTLED = Duration.ofSeconds(5);

    private final McpServer server;
    private final McpConnection.Opener connector;
    private final Duration startLimit;
    private final Runnable toolsChanged;
    private final Backoff backoff;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Thread keeper;

    // written by the keeper
    private volatile List<McpConnection.RemoteTool> tools = List.of();
    private volatile boolean listed;
    private volatile boolean closed;
    // guarded by the lock
    private @Nullable McpConnection connection;
    private int quickEnds;
    private int refusals;
    private long restartEnd = System.nanoTime();
    private String trouble = "it has not started yet";
    private boolean listAgain;

    /**
     * A supervisor that has not started.
     *
     * @param startLimit how long the server may take from its start to its list of tools
     * @param toolsChanged called, on the supervisor's thread, when {@link #tools} has changed
     */
    McpSupervisor(McpServer server, McpConnection.Opener connector, Duration startLimit, Runnable toolsChanged) {
        this.server = server;
        this.connector = connector;
        this.startLimit = startLimit;
        this.toolsChanged = toolsChanged;
        this.backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, server.name());
        this.keeper = Thread.ofPlatform().daemon().name("mcp-" + server.name()).unstarted(this::keep);
    }

    void start() {
        keeper.start();
    }

    McpServer server() {
        return server;
    }

    /** The tools as last listed; none if they never were. */
    List<McpConnection.RemoteTool> tools() {
        return tools;
    }

    /** Whether the tools have been listed once, and whoever wanted to know has been told. */
    boolean isListed() {
        return listed;
    }

    /** Waits until the tools have been listed once, if that is to be expected. */
    void awaitTools() throws InterruptedException {
        long left = PATIENCE.toNanos();
        lock.lockInterruptibly();
        try {
            while (!listed && !closed && !isBroken() && left > 0) {
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Calls a tool.
     *
     * @throws ToolException if the server is away or the tool says no
     */
    @Nullable
    Object call(McpConnection.Call call) throws ToolException, InterruptedException {
        McpConnection first = awaitConnection();
        try {
            return outcome(first.call(call));
        } catch (McpException e) {
            if (e.kind() != McpException.Kind.NOT_SENT) {
                throw failure(first, e);
            }
            lost(first, e);
        }
        McpConnection second = awaitConnection();
        try {
            return outcome(second.call(call));
        } catch (McpException e) {
            throw failure(second, e);
        }
    }

    private static @Nullable Object outcome(McpConnection.Result result) throws ToolException {
        if (result.isError()) {
            throw ForeignFailure.of(TOOL_ERROR, String.valueOf(result.content()));
        }
        return result.content();
    }

    private ToolException failure(McpConnection used, McpException e) {
        return switch (e.kind()) {
            case REFUSED ->
                ForeignFailure.of(REFUSED, "The MCP server \"" + server.name() + "\" refused: " + e.getMessage());
            case NOT_SENT, GONE -> {
                lost(used, e);
                yield ForeignFailure.of(
                        UNAVAILABLE,
                        "The MCP server \"" + server.name() + "\" was lost during the call: " + e.getMessage()
                                + ". Whether the call took effect is not known");
            }
        };
    }

    private McpConnection awaitConnection() throws ToolException, InterruptedException {
        long left = PATIENCE.toNanos();
        lock.lockInterruptibly();
        try {
            while (connection == null || connection.ended().isDone()) {
                if (closed || isBroken() || left <= 0) {
                    throw ForeignFailure.of(
                            UNAVAILABLE, "The MCP server \"" + server.name() + "\" is not available: " + trouble);
                }
                left = changed.awaitNanos(left);
            }
            return connection;
        } finally {
            lock.unlock();
        }
    }

    /** This connection is of no use any more. */
    private void lost(McpConnection used, McpException e) {
        change(() -> {
            if (used.equals(connection)) {
                lost(String.valueOf(e.getMessage()));
            }
        });
    }

    // under the lock
    private void lost(String reason) {
        connection = null;
        trouble = reason;
        restartEnd = System.nanoTime() + RESTART.toNanos();
    }

    // under the lock
    private boolean isBroken() {
        return refusals >= BROKEN && System.nanoTime() - restartEnd >= 0;
    }

    private void keep() {
        try {
            while (!closed) {
                long begun = System.nanoTime();
                try (McpConnection open = connector.connect(server, startLimit, () -> change(() -> listAgain = true))) {
                    CompletableFuture<Void> unused = open.ended().thenRun(() -> change(() -> {}));
                    serve(open);
                } catch (McpException e) {
                    note(String.valueOf(e.getMessage()));
                }
                pause(Duration.ofNanos(System.nanoTime() - begun));
            }
        } catch (InterruptedException e) {
            LOGGER.debug("Stopped keeping an MCP server");
        }
    }

    /** Returns when the connection is lost. */
    private void serve(McpConnection open) throws McpException, InterruptedException {
        list(open);
        change(() -> {
            connection = open;
            refusals = 0;
        });
        LOGGER.atInfo()
                .addKeyValue("server", server.name())
                .addKeyValue("tools", tools().size())
                .log("An MCP server is connected");
        while (awaitWork(open)) {
            list(open);
        }
    }

    private void list(McpConnection open) throws McpException, InterruptedException {
        List<McpConnection.RemoteTool> found = open.tools();
        boolean isNews = !listed || !found.equals(tools);
        tools = found;
        if (isNews) {
            toolsChanged.run();
        }
        change(() -> listed = true);
    }

    /** Waits until the tools are to be listed again; false if the connection is lost. */
    private boolean awaitWork(McpConnection open) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (true) {
                if (open.ended().isDone() && open.equals(connection)) {
                    lost(open.ended().join());
                }
                if (closed || !open.equals(connection)) {
                    connection = null;
                    return false;
                }
                if (listAgain) {
                    listAgain = false;
                    return true;
                }
                changed.await();
            }
        } finally {
            lock.unlock();
        }
    }

    private void note(String reason) {
        change(() -> {
            connection = null;
            trouble = reason;
            refusals++;
        });
    }

    /** Waits before the next attempt, the longer the more have failed in a row. */
    private void pause(Duration lived) throws InterruptedException {
        Duration pause;
        lock.lockInterruptibly();
        try {
            if (closed) {
                return;
            }
            quickEnds = lived.compareTo(SETTLED) < 0 ? quickEnds + 1 : 0;
            pause = quickEnds == 0 ? Duration.ZERO : backoff.after(quickEnds, null);
            LOGGER.atWarn()
                    .addKeyValue("server", server.name())
                    .addKeyValue("reason", trouble)
                    .addKeyValue("pauseMs", pause.toMillis())
                    .log("An MCP server is not available and is tried again");
            changed.signalAll();
            long left = pause.toNanos();
            while (left > 0 && !closed) {
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Changes what the lock guards, and wakes whoever waits for a change. */
    private void change(Runnable change) {
        lock.lock();
        try {
            change.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Ends the server. Calls that run fail. */
    @Override
    public void close() {
        change(() -> {
            closed = true;
            trouble = "it was stopped";
        });
        try {
            if (!keeper.join(Duration.ofSeconds(1))) {
                // it connects or lists, which an interrupt ends
                keeper.interrupt();
                if (!keeper.join(Duration.ofSeconds(5))) {
                    LOGGER.atWarn().addKeyValue("server", server.name()).log("An MCP server did not stop in time");
                }
            }
        } catch (InterruptedException e) {
            keeper.interrupt();
            Thread.currentThread().interrupt();
        }
    }
}
