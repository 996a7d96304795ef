package dev.millrace.tools.mcp;

import java.time.Duration;

/** Opens connections. */
@FunctionalInterface
interface McpConnector {

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
