package dev.millrace.tools.mcp;

import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A conversation with one server that has introduced itself. Safe for any thread. */
interface McpConnection extends AutoCloseable {

    /**
     * A tool as the server describes it.
     *
     * @param name the server's own name for it
     * @param description for the model; empty if there is none
     * @param parameters JSON Schema of the arguments
     * @param sideEffects what its annotations promise; without any, the worst
     */
    record RemoteTool(
            String name,
            String description,
            Map<String, @Nullable Object> parameters,
            ToolDefinition.SideEffects sideEffects) {}

    /**
     * What a call came to.
     *
     * @param content JSON values; with an error, its text
     * @param isError whether the tool said no
     */
    record Result(@Nullable Object content, boolean isError) {}

    /**
     * One call.
     *
     * @param toolName the server's own name of the tool
     * @param arguments JSON values
     * @param meta what goes along beside the arguments, under {@code _meta}
     */
    record Call(String toolName, JsonObject arguments, Map<String, String> meta) {}

    /** Opens connections. */
    @FunctionalInterface
    interface Opener {
        /**
         * Starts or reaches a server and introduces itself.
         *
         * @param limit how long all of that may take
         * @param toolsChanged called, from any thread, when the server says that its tools have changed
         * @throws McpException if that does not work out; nothing is left running then
         */
        McpConnection connect(McpServer server, Duration limit, Runnable toolsChanged)
                throws McpException, InterruptedException;
    }

    /** All tools of the server, however many pages that takes. */
    List<RemoteTool> tools() throws McpException, InterruptedException;

    /**
     * Calls a tool and waits as long as it takes. When the thread is interrupted, the server is told that the call is
     * cancelled.
     */
    Result call(Call call) throws McpException, InterruptedException;

    /** Completes when the server is gone, with the reason, for people. Never completes exceptionally. */
    CompletableFuture<String> ended();

    /** Ends the conversation, and the server if it is a process of ours. Does not throw. */
    @Override
    void close();
}
