package dev.millrace.gateway.rest.rpc;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.schemas.Json;
import org.jspecify.annotations.Nullable;

/**
 * A message of JSON-RPC 2.0.
 *
 * @param id {@code null} = a notification, or an answer to something that nobody has asked: it gets no answer
 * @param method empty = an answer
 */
public record RpcCall(@Nullable JsonNode id, String method, ObjectNode params) {

    /**
     * Reads a message.
     *
     * @throws RpcFault if it is none
     */
    public static RpcCall of(byte[] body) {
        JsonNode tree;
        try {
            tree = BodyReader.tree(body);
        } catch (ProblemException e) {
            throw new RpcFault(400, RpcFault.PARSE_ERROR, e.problem().detail(), null);
        }
        if (!tree.isObject() || !RpcFault.VERSION.equals(tree.path("jsonrpc").textValue())) {
            throw invalid("expected one object with jsonrpc 2.0, found something else");
        }
        JsonNode id = tree.get("id");
        if (id != null && !id.isTextual() && !id.isIntegralNumber()) {
            throw invalid("id: expected a text or a whole number, found something else");
        }
        JsonNode method = tree.path("method");
        if (!method.isTextual()) {
            if (tree.has("result") || tree.has("error")) {
                return new RpcCall(null, "", Json.MAPPER.createObjectNode());
            }
            throw invalid("method: expected a text, found none");
        }
        JsonNode params = tree.path("params");
        if (!params.isMissingNode() && !params.isObject()) {
            throw invalid("params: expected an object, found something else");
        }
        return new RpcCall(
                id, method.textValue(), params instanceof ObjectNode object ? object : Json.MAPPER.createObjectNode());
    }

    private static RpcFault invalid(String message) {
        return new RpcFault(400, RpcFault.INVALID_REQUEST, message, null);
    }
}
