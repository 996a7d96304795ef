/**
 * The gateway as a server of the Model Context Protocol: agents that say so are tools, memory is resources. Both the
 * stateless protocol and the one with a handshake; nothing is kept for either. docs/mcp-server.md.
 */
@NullMarked
package dev.millrace.gateway.rest.mcp;

import org.jspecify.annotations.NullMarked;
