package dev.millrace.gateway.rest.mcp;

import org.jspecify.annotations.Nullable;

/** Ends a request of an MCP client with an error of JSON-RPC. */
final class McpFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    static final int PARSE_ERROR = -32700;
    static final int INVALID_REQUEST = -32600;
    static final int METHOD_NOT_FOUND = -32601;
    static final int INVALID_PARAMS = -32602;
    static final int INTERNAL_ERROR = -32603;
    static final int NOT_THERE = -32002;
    static final int HEADER_MISMATCH = -32020;
    static final int UNSUPPORTED_VERSION = -32022;

    private final int status;
    private final int code;
    private final transient @Nullable Object data;

    /** With this status of HTTP. */
    McpFault(int status, int code, String message, @Nullable Object data) {
        super(message);
        this.status = status;
        this.code = code;
        this.data = data;
    }

    /** What the method was given is no good. */
    static McpFault params(String message) {
        return new McpFault(200, INVALID_PARAMS, message, null);
    }

    int status() {
        return status;
    }

    McpMessage.Fault fault() {
        return new McpMessage.Fault(code, String.valueOf(getMessage()), data);
    }
}
