package dev.millrace.client;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Answers one request after the other as the test says, over the wire; the last answer is given again. */
final class ScriptedGateway implements AutoCloseable {

    /** What is sent, and how the connection ends: {@code HANG} keeps it open and silent. */
    record Answer(int status, String type, String body, String retryAfter, End end) {}

    enum End {
        CLOSE,
        CUT,
        HANG
    }

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;
    private final Deque<Answer> answers = new ArrayDeque<>();
    private final CountDownLatch over = new CountDownLatch(1);
    /** Method, path, and of a stream the Last-Event-ID, of anything else the body. */
    final List<String> requests = new CopyOnWriteArrayList<>();

    final List<String> tokens = new CopyOnWriteArrayList<>();

    ScriptedGateway() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    ScriptedGateway json(int status, String body) {
        answers.add(new Answer(status, "application/json", body, "", End.CLOSE));
        return this;
    }

    ScriptedGateway busy(int status, String body, String retryAfter) {
        answers.add(new Answer(status, "application/problem+json", body, retryAfter, End.CLOSE));
        return this;
    }

    ScriptedGateway stream(End end, String... events) {
        answers.add(new Answer(200, "text/event-stream", String.join("", events), "", end));
        return this;
    }

    ScriptedGateway nothingMore() {
        answers.add(new Answer(204, "", "", "", End.CLOSE));
        return this;
    }

    static String event(String id, String json) {
        return "id: " + id + "\ndata: " + json + "\n\n";
    }

    private void answer(HttpExchange exchange) throws IOException {
        String last = exchange.getRequestHeaders().getFirst("Last-Event-ID");
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        requests.add((exchange.getRequestMethod() + ' ' + exchange.getRequestURI() + ' ' + (last == null ? body : last))
                .strip());
        String token = exchange.getRequestHeaders().getFirst("Authorization");
        tokens.add(token == null ? "" : token);
        Answer answer;
        synchronized (answers) {
            answer = answers.size() > 1 ? answers.remove() : answers.element();
        }
        exchange.getResponseHeaders().set("Content-Type", answer.type());
        if (!answer.retryAfter().isEmpty()) {
            exchange.getResponseHeaders().set("Retry-After", answer.retryAfter());
        }
        byte[] bytes = answer.body().getBytes(StandardCharsets.UTF_8);
        if (answer.status() == 204) {
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
            return;
        }
        // one byte more than is sent makes the end a broken connection
        exchange.sendResponseHeaders(
                answer.status(),
                answer.end() == End.CUT ? bytes.length + 1 : answer.end() == End.HANG ? 0 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.getResponseBody().flush();
        if (answer.end() == End.HANG) {
            try {
                over.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        exchange.close();
    }

    @Override
    public void close() {
        over.countDown();
        server.stop(0);
        threads.shutdownNow();
    }
}
