package dev.millrace.tools.mcp;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.schemas.ToolDefinition.SideEffects;
import io.modelcontextprotocol.client.McpAsyncClient;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.jackson2.JacksonMcpJsonMapper;
import io.modelcontextprotocol.json.schema.JsonSchemaValidator;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpTransportSessionNotFoundException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** A connection through the official SDK. */
final class SdkConnection implements McpConnection {

    private static final Logger LOGGER = LoggerFactory.getLogger(McpTools.class);
    private static final String CLIENT_NAME = "millrace";
    private static final Duration CONNECT = Duration.ofSeconds(10);
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final Duration SETTLED = Duration.ofSeconds(30);
    private static final Duration CLOSE = Duration.ofSeconds(2);
    /** Who waits is interrupted when its own time is over; this only bounds what the SDK remembers. */
    private static final Duration FORGET = Duration.ofHours(24);

    private static final McpJsonMapper JSON = new JacksonMcpJsonMapper(JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build());

    /** Schemas of results are the servers' own business: what a model gets is what the server sent. */
    private static final JsonSchemaValidator ANYTHING_GOES =
            (schema, content) -> JsonSchemaValidator.ValidationResponse.asValid("");

    private final TrackedTransport transport;
    private final CompletableFuture<String> ended;
    private final AtomicLong tokens = new AtomicLong();
    private final McpAsyncClient client;
    private final long openedAt = System.nanoTime();

    private SdkConnection(
            McpServer server,
            TrackedTransport transport,
            CompletableFuture<String> ended,
            Runnable toolsChanged,
            String version) {
        this.transport = transport;
        this.ended = ended;
        this.client = McpClient.async(transport)
                .clientInfo(
                        McpSchema.Implementation.builder(CLIENT_NAME, version).build())
                .requestTimeout(FORGET)
                .initializationTimeout(FORGET)
                .jsonSchemaValidator(ANYTHING_GOES)
                .toolsChangeConsumer(tools -> Mono.fromRunnable(toolsChanged))
                .progressConsumer(progress -> Mono.fromRunnable(() -> LOGGER.atDebug()
                        .addKeyValue("server", server.name())
                        .addKeyValue("call", progress.progressToken())
                        .addKeyValue("progress", progress.progress())
                        .addKeyValue("total", progress.total())
                        .log("A tool of an MCP server tells how far it is")))
                .loggingConsumer(message -> Mono.fromRunnable(() -> LOGGER.atDebug()
                        .addKeyValue("server", server.name())
                        .addKeyValue("level", message.level())
                        .log("An MCP server wrote to its log")))
                .build();
    }

    /** Opens a connection, as a client of this version; see {@link McpConnection.Opener#connect}. */
    static McpConnection open(McpServer server, Duration limit, Runnable toolsChanged, String version)
            throws McpException, InterruptedException {
        SdkConnection connection =
                switch (server) {
                    case McpServer.Stdio stdio -> {
                        ServerProcess process = started(stdio);
                        yield new SdkConnection(
                                stdio,
                                new TrackedTransport(new StdioTransport(process, JSON)),
                                process.ended(),
                                toolsChanged,
                                version);
                    }
                    case McpServer.Http http ->
                        new SdkConnection(
                                http,
                                new TrackedTransport(transport(http)),
                                new CompletableFuture<>(),
                                toolsChanged,
                                version);
                };
        boolean open = false;
        try {
            connection.await(connection.client.initialize(), limit);
            connection.transport.onFault(connection::lookAfter);
            open = true;
            return connection;
        } finally {
            if (!open) {
                connection.close();
            }
        }
    }

    private static ServerProcess started(McpServer.Stdio server) throws McpException {
        try {
            return ServerProcess.start(server);
        } catch (IOException e) {
            throw new McpException(McpException.Kind.NOT_SENT, String.valueOf(e.getMessage()), e);
        }
    }

    private static McpClientTransport transport(McpServer.Http server) {
        URI url = server.url();
        String path = url.getRawPath() == null || url.getRawPath().isEmpty() ? "/" : url.getRawPath();
        return HttpClientStreamableHttpTransport.builder(url.resolve("/").toString())
                .endpoint(url.getRawQuery() == null ? path : path + '?' + url.getRawQuery())
                // the JDK's client would ask every plain-text server to upgrade to HTTP/2
                .customizeClient(builder -> builder.version(HttpClient.Version.HTTP_1_1))
                .connectTimeout(CONNECT)
                .jsonMapper(JSON)
                .addHttpRequestCustomizer((request, method, uri, body, context) ->
                        server.headers().forEach(request::setHeader))
                .build();
    }

    /**
     * A stream broke. If the server does not answer either, it is gone, and calls that wait for it wait in vain. If it
     * does, a new connection brings back the stream on which the server tells what has changed, unless it is one that
     * never stays.
     */
    private void lookAfter(Throwable fault) {
        if (ended.isDone() || !isBroken(fault)) {
            return;
        }
        Thread.ofVirtual().name("mcp-look-after").start(() -> {
            try {
                await(client.ping(), ANSWER);
                if (!transport.isInUse() && System.nanoTime() - openedAt > SETTLED.toNanos()) {
                    ended.complete("its stream of notifications broke: " + fault);
                }
            } catch (McpException e) {
                ended.complete("its connection broke: " + fault);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private static boolean isBroken(Throwable fault) {
        for (Throwable each = fault; each != null; each = each.getCause()) {
            if (each instanceof IOException) {
                return true;
            }
        }
        return false;
    }

    @Override
    public List<RemoteTool> tools() throws McpException, InterruptedException {
        McpSchema.ServerCapabilities capabilities = client.getServerCapabilities();
        if (capabilities != null && capabilities.tools() == null) {
            return List.of();
        }
        return await(client.listTools(), CONNECT.multipliedBy(3)).tools().stream()
                .map(SdkConnection::remoteTool)
                .toList();
    }

    private static RemoteTool remoteTool(McpSchema.Tool tool) {
        String description = Objects.requireNonNullElse(tool.description(), "");
        return new RemoteTool(
                tool.name(),
                description.isBlank() ? Objects.requireNonNullElse(tool.title(), "") : description,
                parameters(tool.inputSchema()),
                sideEffects(tool.annotations()));
    }

    private static Map<String, @Nullable Object> parameters(@Nullable Map<String, Object> schema) {
        Map<String, @Nullable Object> parameters = new LinkedHashMap<>();
        if (schema != null) {
            parameters.putAll(schema);
        }
        parameters.putIfAbsent("type", "object");
        // all that models and our own validator do with it is the same in the drafts that servers name
        parameters.remove("$schema");
        return parameters;
    }

    private static SideEffects sideEffects(McpSchema.@Nullable ToolAnnotations annotations) {
        if (annotations == null) {
            return SideEffects.DESTRUCTIVE;
        }
        if (Boolean.TRUE.equals(annotations.readOnlyHint())) {
            return SideEffects.READ_ONLY;
        }
        return Boolean.TRUE.equals(annotations.idempotentHint()) ? SideEffects.IDEMPOTENT : SideEffects.DESTRUCTIVE;
    }

    @Override
    public Result call(Call call) throws McpException, InterruptedException {
        Map<String, Object> meta = new LinkedHashMap<>(call.meta());
        String token = "call-" + tokens.incrementAndGet();
        meta.put(TrackedTransport.TOKEN, token);
        CompletableFuture<McpSchema.CallToolResult> answer =
                client.callTool(request(call, meta)).toFuture();
        try {
            return SdkResults.of(await(answer));
        } catch (InterruptedException e) {
            transport
                    .cancel(token, "nobody waits for it any more")
                    .subscribe(
                            sent -> LOGGER.trace("Cancelled a call of an MCP server's tool"),
                            failure -> LOGGER.debug("A call of an MCP server's tool could not be cancelled", failure));
            throw e;
        } finally {
            transport.forget(token);
            answer.cancel(true);
        }
    }

    @SuppressWarnings("NullAway") // the SDK's types do not know that JSON values may be null
    private static McpSchema.CallToolRequest request(Call call, Map<String, Object> meta) {
        return new McpSchema.CallToolRequest(call.toolName(), new LinkedHashMap<>(call.arguments()), meta);
    }

    @Override
    public CompletableFuture<String> ended() {
        return ended;
    }

    @Override
    public void close() {
        try {
            client.closeGracefully().toFuture().get(CLOSE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            LOGGER.atDebug().setCause(e).log("An MCP connection was not closed in order");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            transport.closeGracefully().subscribe();
            ended.complete("it was stopped");
        }
    }

    private <T> T await(Mono<T> answer, Duration limit) throws McpException, InterruptedException {
        CompletableFuture<T> future = answer.toFuture();
        try {
            return await(future.orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS));
        } finally {
            future.cancel(true);
        }
    }

    /** Waits for the answer, or for the end of the server. */
    private <T> T await(CompletableFuture<T> answer) throws McpException, InterruptedException {
        try {
            Object unused = CompletableFuture.anyOf(answer, ended).get();
            if (answer.isDone()) {
                return answer.get();
            }
            throw new McpException(McpException.Kind.GONE, ended.join());
        } catch (ExecutionException e) {
            McpException failure = failure(e.getCause() == null ? e : e.getCause());
            // whoever learns of the end first closes the session, which fails what is out in words that say less
            throw failure.kind() == McpException.Kind.GONE && ended.isDone()
                    ? new McpException(McpException.Kind.GONE, ended.join(), failure)
                    : failure;
        }
    }

    private static McpException failure(Throwable cause) {
        for (Throwable each = cause; each != null; each = each.getCause()) {
            if (each instanceof McpError refused) {
                return new McpException(McpException.Kind.REFUSED, String.valueOf(refused.getMessage()), cause);
            }
            if (each instanceof TimeoutException) {
                return new McpException(McpException.Kind.GONE, "it did not answer in time", cause);
            }
            if (each instanceof ConnectException
                    || each instanceof HttpConnectTimeoutException
                    || each instanceof McpTransportSessionNotFoundException) {
                return new McpException(McpException.Kind.NOT_SENT, "it cannot be reached: " + each, cause);
            }
        }
        return new McpException(McpException.Kind.GONE, String.valueOf(cause.getMessage()), cause);
    }
}
