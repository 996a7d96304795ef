/**
 * Tools of MCP servers. {@link dev.millrace.tools.mcp.McpTools} keeps one {@link dev.millrace.tools.mcp.McpSupervisor}
 * per configured server, which starts it, lists its tools, and starts it again when it dies. The protocol is behind
 * {@link dev.millrace.tools.mcp.McpConnection}; only {@code Sdk…} and the transports know the SDK, see
 * {@code docs/adr/0012-mcp-through-the-official-sdk.md}.
 */
@NullMarked
package dev.millrace.tools.mcp;

import org.jspecify.annotations.NullMarked;
