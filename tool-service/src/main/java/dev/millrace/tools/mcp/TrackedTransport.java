package dev.millrace.tools.mcp;

import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCMessage;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * A transport that knows which call has which request id, so that a call can be cancelled, and that tells when
 * something is wrong with it; the SDK can do neither.
 */
final class TrackedTransport implements McpClientTransport {

    /** Where a call says which one it is: in its {@code _meta}, and in the progress that the server tells of. */
    static final String TOKEN = "progressToken";

    private static final String CANCELLED = "notifications/cancelled";

    private final McpClientTransport transport;
    private final Map<String, Object> requestIds = new ConcurrentHashMap<>();
    private volatile Consumer<Throwable> faultListener = fault -> {};

    TrackedTransport(McpClientTransport transport) {
        this.transport = transport;
    }

    /** Tells the server that nobody waits for this call any more; does nothing if it was not sent or is forgotten. */
    Mono<Void> cancel(String token, String reason) {
        Object requestId = requestIds.remove(token);
        return requestId == null
                ? Mono.empty()
                : transport.sendMessage(
                        new JSONRPCNotification(CANCELLED, Map.of("requestId", requestId, "reason", reason)));
    }

    /** The call has an answer. */
    void forget(String token) {
        requestIds.remove(token);
    }

    /** Whether a call waits for an answer. */
    boolean isInUse() {
        return !requestIds.isEmpty();
    }

    /** Calls this, on any thread, when a stream of the transport breaks. */
    void onFault(Consumer<Throwable> listener) {
        faultListener = listener;
    }

    @Override
    public Mono<Void> sendMessage(JSONRPCMessage message) {
        if (message instanceof JSONRPCRequest request
                && request.method().equals(McpSchema.METHOD_TOOLS_CALL)
                && request.params() instanceof CallToolRequest call
                && call.meta() != null
                && call.meta().get(TOKEN) instanceof String token) {
            requestIds.put(token, request.id());
        }
        return transport.sendMessage(message);
    }

    @Override
    public Mono<Void> connect(Function<Mono<JSONRPCMessage>, Mono<JSONRPCMessage>> handler) {
        return transport.connect(handler);
    }

    @Override
    public void setExceptionHandler(Consumer<Throwable> handler) {
        transport.setExceptionHandler(fault -> {
            handler.accept(fault);
            faultListener.accept(fault);
        });
    }

    @Override
    public Mono<Void> closeGracefully() {
        return transport.closeGracefully();
    }

    @Override
    public <T> T unmarshalFrom(Object data, TypeRef<T> type) {
        return transport.unmarshalFrom(data, type);
    }

    @Override
    public List<String> protocolVersions() {
        return transport.protocolVersions();
    }
}
