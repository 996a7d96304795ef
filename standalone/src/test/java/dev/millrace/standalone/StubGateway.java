package dev.millrace.standalone;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A gateway that says what a test tells it to say. */
public final class StubGateway implements AutoCloseable {

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
    private final HttpServer server;

    public StubGateway() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.start();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /**
     * Who asks, if they say so, method, path with query and, where there is one, the Last-Event-ID or the body of every
     * request so far.
     */
    public List<String> requests() {
        return List.copyOf(requests);
    }

    /** Answers everything under a path with this. */
    public StubGateway answer(String path, int status, String body) {
        server.createContext(path, exchange -> {
            note(exchange);
            send(exchange, status, body);
        });
        return this;
    }

    /** The same, but for the first time, when it hangs up without a word. */
    public StubGateway answerTheSecondTime(String path, String body) {
        AtomicInteger connection = new AtomicInteger();
        server.createContext(path, exchange -> {
            note(exchange);
            if (connection.getAndIncrement() == 0) {
                exchange.close();
            } else {
                send(exchange, 200, body);
            }
        });
        return this;
    }

    private static void send(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(bytes);
        }
    }

    /** Streams one of these texts per connection, the last one for all further ones, which then stay open. */
    public StubGateway stream(String path, String... connections) {
        AtomicInteger connection = new AtomicInteger();
        server.createContext(path, exchange -> {
            note(exchange);
            int mine = connection.getAndIncrement();
            exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(connections[Math.min(mine, connections.length - 1)].getBytes(StandardCharsets.UTF_8));
                out.flush();
                if (mine >= connections.length - 1) {
                    end.await();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        return this;
    }

    @Override
    public void close() {
        end.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    private void note(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        String cursor = exchange.getRequestHeaders().getFirst("Last-Event-ID");
        String authorization = exchange.getRequestHeaders().getFirst("Authorization");
        requests.add((authorization == null ? "" : authorization + ": ")
                + exchange.getRequestMethod()
                + ' '
                + exchange.getRequestURI()
                + (cursor == null ? "" : " after " + cursor)
                + (body.isEmpty() ? "" : " " + body));
    }
}
