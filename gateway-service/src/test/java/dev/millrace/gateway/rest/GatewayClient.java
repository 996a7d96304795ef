package dev.millrace.gateway.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.StreamType;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.OpenApiCheck;
import dev.millrace.testing.TestBroker;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jspecify.annotations.Nullable;

/** Talks to the gateway under test as any client would, and writes the journal as agent-service would. */
public final class GatewayClient {
    public static final Duration LIMIT = Duration.ofSeconds(20);

    private static final Duration WHOLE_LIMIT = Duration.ofSeconds(60);

    /** What the stub of agent-service answers, in outline. */
    private static final Pattern RELAYED = Pattern.compile("/v1/(tasks|agents|tools|usage|approvals|events)(/.*)?");

    private static final Pattern MANAGEMENT = Pattern.compile("/q/(health|metrics)");

    private static @Nullable OpenApiCheck document;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Config config = ConfigProvider.getConfig();
    private final String base = config.getValue("test.url", String.class).replaceFirst("/$", "");
    private final String management =
            "http://localhost:" + config.getValue("quarkus.management.test-port", Integer.class);

    /** An answer, its body as text and, if it is JSON, as values. */
    public record Answer(int status, HttpResponse<String> response) {
        public String body() {
            return response.body();
        }

        public Map<String, @Nullable Object> json() {
            try {
                return Json.readObject(body().getBytes(StandardCharsets.UTF_8));
            } catch (MalformedEventException e) {
                throw new AssertionError(status + ": " + body(), e);
            }
        }

        @Nullable
        public Object field(String name) {
            return json().get(name);
        }

        public String text(String name) {
            return String.valueOf(field(name));
        }

        public String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }
    }

    int port() {
        return at("/").getPort();
    }

    /** Where the gateway serves this path; what is for probes and monitoring, it does at a port of its own. */
    URI at(String path) {
        return URI.create((MANAGEMENT.matcher(path).lookingAt() ? management : base) + path);
    }

    public HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(at(path)).timeout(LIMIT);
    }

    public Answer get(String path) throws IOException, InterruptedException {
        return send(request(path).GET());
    }

    public Answer postJson(String path, Object json) throws IOException, InterruptedException {
        return postText(path, Json.writeText(json));
    }

    public Answer postText(String path, String json) throws IOException, InterruptedException {
        return send(request(path).header("Content-Type", "application/json").POST(BodyPublishers.ofString(json)));
    }

    public Answer send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpResponse<String> response = whole(request.build());
        String type = response.headers().firstValue("Content-Type").orElse("");
        HttpRequest sent = response.request();
        if (type.contains("json")
                && !(sent.method().equals("GET")
                        && RELAYED.matcher(response.uri().getPath()).matches())) {
            requireDescribed(sent, response.statusCode(), response.body());
        }
        return new Answer(response.statusCode(), response);
    }

    /** The limit of a request ends with the headers of the answer: one that goes on for ever is not a whole one. */
    private HttpResponse<String> whole(HttpRequest request) throws IOException, InterruptedException {
        CompletableFuture<HttpResponse<String>> answer = http.sendAsync(request, BodyHandlers.ofString());
        try {
            return answer.get(WHOLE_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            answer.cancel(true);
            throw new AssertionError(
                    request + ": expected a whole answer within " + WHOLE_LIMIT.toSeconds() + " s, it has not ended",
                    e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failed) {
                throw failed;
            }
            throw new IllegalStateException(e);
        }
    }

    /** Fails if the OpenAPI document does not describe what was received. */
    private void requireDescribed(HttpRequest sent, int status, String json) throws IOException, InterruptedException {
        if (!sent.uri().getPath().startsWith("/v1/")) {
            return;
        }
        if (document == null) {
            HttpRequest request = request("/openapi?format=json").build();
            document = new OpenApiCheck(whole(request).body());
        }
        assertThat(document.problems(sent.method(), sent.uri(), status, json))
                .as(json)
                .isEmpty();
    }

    /** The lines of an event stream as they come; closing the stream drops the connection. */
    public SseClient stream(String path, @Nullable String lastEventId) throws IOException, InterruptedException {
        HttpRequest.Builder request = request(path).header("Accept", "text/event-stream");
        if (lastEventId != null) {
            request.header("Last-Event-ID", lastEventId);
        }
        HttpResponse<InputStream> response = http.send(request.build(), BodyHandlers.ofInputStream());
        boolean factsOnly = response.statusCode() == 200 && !path.contains("tokens=");
        return new SseClient(response, data -> {
            if (factsOnly) {
                requireDescribed(response.request(), 200, data);
            }
        });
    }

    /** The same of a request that says more; what comes is not compared with the OpenAPI document. */
    public SseClient stream(HttpRequest.Builder request) throws IOException, InterruptedException {
        return new SseClient(
                http.send(request.header("Accept", "text/event-stream").build(), BodyHandlers.ofInputStream()),
                data -> {});
    }

    public Topics topics() {
        return new Topics(config.getValue("millrace.topics.prefix", String.class));
    }

    /** Makes the stub of agent-service behave in this way, see {@link StubAgent}. */
    public void agentIs(String mode) throws IOException, InterruptedException {
        http.send(
                HttpRequest.newBuilder(
                                URI.create(config.getValue("millrace.gateway.agent-url", String.class) + "/stub/mode"))
                        .PUT(BodyPublishers.ofString(mode))
                        .build(),
                BodyHandlers.discarding());
    }

    /** Writes to the journal, as agent-service would, what follows from {@code cause}. */
    public Event journal(Event cause, EventType type, int ordinal, Map<String, @Nullable Object> payload) {
        Event fact = cause.derive(type, ordinal, Instant.now())
                .taskId(cause.taskId() == null ? cause.id() : cause.taskId())
                .payload(payload)
                .build();
        TestBroker.shared().produce(topics().journal(), fact);
        return fact;
    }

    /** Writes live text, as agent-service would. */
    public Event tokens(Event cause, StreamType type, int attempt, int seq, Map<String, @Nullable Object> fields) {
        Map<String, @Nullable Object> payload = new HashMap<>(fields);
        payload.put("attempt", attempt);
        payload.put("seq", seq);
        Event piece = Event.root(Ids.random(), type, Instant.now())
                .taskId(cause.taskId())
                .sessionId(cause.sessionId())
                .payload(payload)
                .build();
        TestBroker.shared().produce(topics().tokens(), piece);
        return piece;
    }

    /** Writes the event that starts a task to the journal. */
    public Event journalRoot(String taskId, @Nullable String sessionId) {
        Event root = Event.root(taskId, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                .source("user")
                .taskId(taskId)
                .sessionId(sessionId)
                .payload(Map.of("text", "hello"))
                .build();
        TestBroker.shared().produce(topics().journal(), root);
        return root;
    }

    /** Has a task be known in this state, and returns its id. */
    public String knownTask(@Nullable String sessionId, String state) {
        String id = Ids.random();
        Event root = journalRoot(id, sessionId);
        journal(root, KnownEventType.TASK_STATE_CHANGED, 1, new HashMap<>(Map.of("toState", state)));
        await().atMost(LIMIT).until(() -> get("/v1/tasks/" + id).body().contains("\"state\":\"" + state + "\""));
        return id;
    }
}
