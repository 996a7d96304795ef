package dev.millrace.knowledge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.knowledge.embed.RemoteEmbedder;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;

/** A server of vectors: each word of a text is a direction, so that texts with the same words are near each other. */
final class StubEmbeddings implements AutoCloseable {

    private static final int DIMENSIONS = 64;

    private final HttpServer server;
    private final List<String> authorizations = new CopyOnWriteArrayList<>();
    private volatile int status = 200;

    StubEmbeddings() throws IOException {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }

    /** From now on it answers with this status. */
    void answerWith(int newStatus) {
        status = newStatus;
    }

    /** What it was shown. */
    List<String> authorizations() {
        return authorizations;
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    RemoteEmbedder embedder(RemoteEmbedder.Api api) {
        return new RemoteEmbedder(new RemoteEmbedder.Server(
                api, url(), "stub", "secret", RemoteEmbedder.THRESHOLDS, Duration.ofSeconds(10)));
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange;
                InputStream body = exchange.getRequestBody()) {
            JsonNode asked = Json.MAPPER.readTree(body.readAllBytes());
            authorizations.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
            byte[] answer = status == 200
                    ? Json.write(
                            exchange.getRequestURI().getPath().equals("/api/embed")
                                    ? ollama(asked.path("input"))
                                    : openAi(asked.path("input")))
                    : "{\"error\": \"not now\"}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    private static ObjectNode ollama(JsonNode texts) {
        ObjectNode answer = Json.MAPPER.createObjectNode();
        ArrayNode vectors = answer.putArray("embeddings");
        texts.forEach(text -> numbers(vectors.addArray(), text.asText()));
        return answer;
    }

    /** In the reverse order, which its {@code index} tells. */
    private static ObjectNode openAi(JsonNode texts) {
        ObjectNode answer = Json.MAPPER.createObjectNode();
        ArrayNode data = answer.putArray("data");
        for (int i = texts.size() - 1; i >= 0; i--) {
            ObjectNode one = data.addObject().put("index", i);
            numbers(one.putArray("embedding"), texts.get(i).asText());
        }
        return answer;
    }

    private static void numbers(ArrayNode vector, String text) {
        double[] values = new double[DIMENSIONS];
        for (String word : text.toLowerCase(Locale.ROOT).split("\\W+", -1)) {
            values[Math.floorMod(word.hashCode(), DIMENSIONS)] += 1;
        }
        for (double value : values) {
            vector.add(value);
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
