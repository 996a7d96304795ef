package dev.millrace.standalone.cli;

import org.jspecify.annotations.Nullable;

/** Ends a request with an error of JSON-RPC. */
final class JsonRpcException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    static final int PARSE_ERROR = -32700;
    static final int INVALID_REQUEST = -32600;
    static final int METHOD_NOT_FOUND = -32601;
    static final int INVALID_PARAMS = -32602;
    static final int INTERNAL_ERROR = -32603;

    private final int code;
    private final transient @Nullable Object data;

    /**
     * With words for people.
     *
     * @param data more about it for programs, which Jackson writes
     */
    JsonRpcException(int code, String message, @Nullable Object data) {
        super(message);
        this.code = code;
        this.data = data;
    }

    /** What a method was given is no good. */
    static JsonRpcException params(String message) {
        return new JsonRpcException(INVALID_PARAMS, message, null);
    }

    /** As it is told. */
    JsonRpcPeer.Fault fault() {
        return new JsonRpcPeer.Fault(code, String.valueOf(getMessage()), data);
    }
}
