package dev.millrace.gateway.rest.rpc;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import org.jspecify.annotations.Nullable;

/** Ends a request with an error of JSON-RPC. */
public final class RpcFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public static final String VERSION = "2.0";
    public static final int PARSE_ERROR = -32700;
    public static final int INVALID_REQUEST = -32600;
    public static final int METHOD_NOT_FOUND = -32601;
    public static final int INVALID_PARAMS = -32602;
    public static final int INTERNAL_ERROR = -32603;

    private final int status;
    private final int code;
    private final transient @Nullable Object data;

    /** With this status of HTTP. */
    public RpcFault(int status, int code, String message, @Nullable Object data) {
        super(message);
        this.status = status;
        this.code = code;
        this.data = data;
    }

    /** What is wrong. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Fault(int code, String message, @Nullable Object data) {}

    /** The answer to a request that cannot be done; {@code id} null = it could not be read. */
    public record Refusal(
            String jsonrpc,

            @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable
            JsonNode id,

            Fault error) {}

    /** What the method was given is no good. */
    public static RpcFault params(String message) {
        return new RpcFault(200, INVALID_PARAMS, message, null);
    }

    /** There is no such method. */
    public static RpcFault unknownMethod(int status, String method) {
        return new RpcFault(status, METHOD_NOT_FOUND, "There is no method " + method + " here", null);
    }

    /** What the client of this request reads. */
    public Refusal refusal(@Nullable JsonNode id) {
        return new Refusal(VERSION, id, new Fault(code, String.valueOf(getMessage()), data));
    }

    /** The same as the answer over HTTP. */
    public Response response(@Nullable JsonNode id) {
        return json(status, refusal(id));
    }

    /** A message of JSON-RPC as the answer over HTTP. */
    public static Response json(int status, Object message) {
        return Response.status(status)
                .type(MediaType.APPLICATION_JSON_TYPE)
                .entity(Json.writeText(message))
                .build();
    }
}
