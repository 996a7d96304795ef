package dev.millrace.knowledge.embed;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Asks a server for vectors: one that speaks OpenAI's {@code /embeddings}, or Ollama's {@code /api/embed}. */
public final class RemoteEmbedder implements Embedder {

    /** Of a model that nobody has measured here; what its vectors mean is for whoever sets it up to find out. */
    public static final Thresholds THRESHOLDS = new Thresholds(0, 0.7, 0.95);

    private static final int MAX_QUOTED = 300;

    private final Server server;
    private final HttpClient http;

    /** What a server speaks. */
    public enum Api {
        OPENAI("/embeddings"),
        OLLAMA("/api/embed");

        private final String path;

        Api(String path) {
            this.path = path;
        }
    }

    /**
     * Which server.
     *
     * @param base such as {@code https://api.openai.com/v1} or {@code http://localhost:11434}
     * @param key sent as a bearer token; {@code null} = none
     * @param timeout of one request
     */
    public record Server(
            Api api, URI base, String model, @Nullable String key, Thresholds thresholds, Duration timeout) {
        @Override
        public String toString() {
            return api + " " + base + " " + model;
        }
    }

    /** Connects when it is asked. */
    public RemoteEmbedder(Server server) {
        this.server = server;
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(server.timeout())
                .build();
    }

    @Override
    public String model() {
        return server.model();
    }

    @Override
    public Thresholds thresholds() {
        return server.thresholds();
    }

    @Override
    public List<float[]> embed(List<String> texts) throws EmbeddingException, InterruptedException {
        ObjectNode body = Json.MAPPER.createObjectNode().put("model", server.model());
        ArrayNode input = body.putArray("input");
        texts.forEach(input::add);
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create(server.base().toString().replaceFirst("/+$", "") + server.api().path))
                .timeout(server.timeout())
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(Json.write(body)));
        if (server.key() != null) {
            request.header("Authorization", "Bearer " + server.key());
        }
        try {
            HttpResponse<String> answer =
                    http.send(request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
            if (answer.statusCode() != 200) {
                throw new EmbeddingException(
                        server + " answered with status " + answer.statusCode() + ": " + start(answer.body()), null);
            }
            return vectors(Json.MAPPER.readTree(answer.body()), texts.size());
        } catch (JsonProcessingException e) {
            throw new EmbeddingException(server + " answered with something that is no JSON", e);
        } catch (IOException e) {
            throw new EmbeddingException(server + " cannot be reached: " + e, e);
        }
    }

    private List<float[]> vectors(JsonNode answer, int expected) throws EmbeddingException {
        JsonNode given = server.api() == Api.OLLAMA ? answer.path("embeddings") : answer.path("data");
        float[][] vectors = new float[expected][];
        for (int i = 0; i < given.size(); i++) {
            JsonNode one = given.get(i);
            int index = one.path("index").asInt(i);
            JsonNode numbers = one.isArray() ? one : one.path("embedding");
            if (index < 0 || index >= expected || numbers.isEmpty()) {
                throw new EmbeddingException(server + " answered with vectors that nobody asked for", null);
            }
            float[] vector = new float[numbers.size()];
            for (int n = 0; n < vector.length; n++) {
                vector[n] = (float) numbers.get(n).asDouble();
            }
            vectors[index] = Embedder.normalized(vector);
        }
        if (Arrays.stream(vectors).anyMatch(vector -> vector == null)) {
            throw new EmbeddingException(server + ": expected " + expected + " vectors, found " + given.size(), null);
        }
        return new ArrayList<>(Arrays.asList(vectors));
    }

    private static String start(String body) {
        return body.length() <= MAX_QUOTED ? body : body.substring(0, MAX_QUOTED) + "…";
    }

    @Override
    public void close() {
        http.shutdownNow();
    }
}
