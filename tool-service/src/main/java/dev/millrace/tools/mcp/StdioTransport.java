package dev.millrace.tools.mcp;

import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCMessage;
import java.io.IOException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * The SDK's messages as lines of a {@link ServerProcess}. The SDK's own transport hands this service's whole
 * environment on, leaves what the server has started alive, and does not tell when the server dies.
 */
final class StdioTransport implements McpClientTransport {

    private static final Logger LOGGER = LoggerFactory.getLogger(McpTools.class);

    private final ServerProcess process;
    private final McpJsonMapper json;

    StdioTransport(ServerProcess process, McpJsonMapper json) {
        this.process = process;
        this.json = json;
    }

    @Override
    public Mono<Void> connect(Function<Mono<JSONRPCMessage>, Mono<JSONRPCMessage>> handler) {
        return Mono.fromRunnable(() -> process.read(line -> {
            JSONRPCMessage message;
            try {
                message = McpSchema.deserializeJsonRpcMessage(json, line);
            } catch (IOException | IllegalArgumentException e) {
                // some servers greet people on their standard output
                LOGGER.debug("A line from an MCP server is no message and is passed over");
                return;
            }
            handler.apply(Mono.just(message))
                    .subscribe(
                            handled -> LOGGER.trace("Handled a message of an MCP server"),
                            failure -> LOGGER.debug("A message of an MCP server could not be handled", failure));
        }));
    }

    @Override
    public Mono<Void> sendMessage(JSONRPCMessage message) {
        return Mono.defer(() -> {
            try {
                return Mono.fromFuture(process.write(json.writeValueAsString(message)));
            } catch (IOException e) {
                return Mono.error(e);
            }
        });
    }

    @Override
    public <T> T unmarshalFrom(Object data, TypeRef<T> type) {
        return json.convertValue(data, type);
    }

    @Override
    public Mono<Void> closeGracefully() {
        return Mono.fromRunnable(process::close);
    }
}
