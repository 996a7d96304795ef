package dev.millrace.standalone;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.testing.OpenApiCheck;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Knows nothing but the OpenAPI document: notes which requests do not fit to it, and answers something that is of no use. */
final class ContractGateway implements AutoCloseable {

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final OpenApiCheck document;
    private final HttpServer server;
    private final Set<String> problems = new ConcurrentSkipListSet<>();
    private final Set<String> routes = new ConcurrentSkipListSet<>();

    ContractGateway(OpenApiCheck document) throws IOException {
        this.document = document;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::look);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** What does not fit. */
    List<String> problems() {
        return List.copyOf(problems);
    }

    /** What was asked for: methods with paths. */
    Set<String> routes() {
        return Set.copyOf(routes);
    }

    private void look(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        routes.add(exchange.getRequestMethod() + ' ' + exchange.getRequestURI().getRawPath());
        String type = exchange.getRequestHeaders().getFirst("Content-Type");
        problems.addAll(document.requestProblems(
                exchange.getRequestMethod(), exchange.getRequestURI(), type == null ? "" : type, body));
        boolean isStream =
                String.valueOf(exchange.getRequestHeaders().getFirst("Accept")).startsWith("text/event-stream");
        // ids, so that what goes on from an answer goes on
        byte[] answer = "{\"taskId\":\"x\",\"sessionId\":\"x\",\"accepted\":[]}".getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(isStream ? 204 : 200, isStream ? -1 : answer.length);
        if (!isStream) {
            exchange.getResponseBody().write(answer);
        }
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
