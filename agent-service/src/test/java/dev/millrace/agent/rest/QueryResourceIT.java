package dev.millrace.agent.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.BrokerResource;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of the internal API, as the gateway relies on it. */
@QuarkusTest
@RequiresBroker
@WithTestResource(BrokerResource.class)
@WithTestResource(QueryResourceIT.Folders.class)
class QueryResourceIT {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final HttpClient http = HttpClient.newHttpClient();
    private final String base = ConfigProvider.getConfig().getValue("test.url", String.class);
    private final Topics topics =
            new Topics(ConfigProvider.getConfig().getValue("millrace.topics.prefix", String.class));

    /** Folders of this test's own. */
    public static final class Folders implements QuarkusTestResourceLifecycleManager {
        /** For Quarkus. */
        public Folders() {}

        @Override
        public Map<String, String> start() {
            try {
                Path folder = Files.createTempDirectory(Path.of("target"), "query-resource-it-");
                return Map.of(
                        "millrace.agent.state-dir",
                        folder.resolve("agent").toString(),
                        "millrace.agent.projection.state-dir",
                        folder.resolve("projection").toString(),
                        "quarkus.http.test-port",
                        "0");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Does nothing: {@code mvn clean} removes them. */
        @Override
        public void stop() {}
    }

    private static final Map<String, @Nullable Object> CREATED =
            Map.of("inputText", "hello", "source", "user", "inputMetadata", Map.of(), "taskType", "general");

    private record Answer(int status, String type, Map<String, @Nullable Object> json) {}

    @BeforeEach
    void awaitProjection() {
        await().atMost(LIMIT).until(() -> get("/internal/tasks").status() == 200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "with space", "with/slash", "a+b&c=d?e#f", "ümläut 🦀", "%41"})
    void shouldShowATaskAtThePlaceThatTheCallerHasSeen(String name) throws Exception {
        // given
        String id = name + Ids.random();
        JournalCursor created = write(task(id), KnownEventType.TASK_CREATED, CREATED);

        // when
        Answer answer = get("/internal/tasks/" + encoded(id) + "?at=" + created);

        // then
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.json())
                .containsEntry("taskId", id)
                .containsEntry("state", "idle")
                .containsEntry("inputText", "hello")
                .containsEntry("response", null)
                .containsEntry("lastCursor", created.toString())
                .containsEntry("usage", Map.of("inputTokens", 0, "outputTokens", 0));
    }

    @Test
    void shouldPageThroughEvents() throws Exception {
        // given
        String id = Ids.random();
        Event root = task(id);
        write(root, KnownEventType.TASK_CREATED, CREATED);
        JournalCursor last = write(root, KnownEventType.TASK_NOTIFY, Map.of("message", "x"));
        get("/internal/tasks/" + id + "?at=" + last);

        // when
        Answer first = get("/internal/tasks/" + id + "/events?limit=1");
        Answer second =
                get("/internal/tasks/" + id + "/events?after=" + first.json().get("next"));

        // then
        assertThat((List<?>) first.json().get("events")).hasSize(1);
        assertThat(first.json()).containsEntry("upTo", null);
        assertThat((List<?>) second.json().get("events"))
                .singleElement()
                .satisfies(entry -> assertThat((Map<?, ?>) entry)
                        .extracting("type", "cursor")
                        .containsExactly("TASK_NOTIFY", last.toString()));
        assertThat(second.json()).containsEntry("next", null);
        assertThat(JournalCursor.parse(String.valueOf(second.json().get("upTo"))))
                .hasValueSatisfying(upTo -> assertThat(upTo).isGreaterThanOrEqualTo(last));
    }

    @Test
    void shouldListTasksOfASession() throws Exception {
        // given
        String session = Ids.random();
        String id = Ids.random();
        Event root = task(id).toBuilder().sessionId(session).build();
        JournalCursor created = write(root, KnownEventType.TASK_CREATED, CREATED);
        get("/internal/tasks/" + id + "?at=" + created);

        // when
        Answer answer = get("/internal/tasks?sessionId=" + session + "&state=idle");

        // then
        assertThat((List<?>) answer.json().get("tasks"))
                .singleElement()
                .satisfies(task ->
                        assertThat((Map<?, ?>) task).extracting("taskId").isEqualTo(id));
        assertThat(answer.json()).containsEntry("next", null);
    }

    @Test
    void shouldNameTheAgents() throws Exception {
        assertThat(String.valueOf(get("/internal/agents").json().get("agents")))
                .contains("name=general", "name=explore", "name=plan");
        assertThat(get("/internal/agents/plan").json())
                .containsEntry("source", "built-in")
                .containsEntry(
                        "missingTools",
                        ((Map<?, ?>) get("/internal/agents/plan").json()).get("toolPatterns"))
                .extractingByKey("prompt")
                .asString()
                .startsWith("You are a planner.");
        assertThat(get("/internal/tools").json()).containsEntry("tools", List.of());
        assertThat(get("/internal/tools?name=read_file").json()).containsEntry("tools", List.of());
        assertThat(get("/internal/tools?agent=explore").json()).containsEntry("tools", List.of());
    }

    @ParameterizedTest
    @CsvSource({
        "/internal/tasks/none, 404, unknown_task",
        "/internal/tasks/none/events, 404, unknown_task",
        "/internal/agents/none, 404, unknown_agent",
        "/internal/tools?agent=none, 404, unknown_agent",
        "/internal/events/none/chain, 404, unknown_event",
        "/internal/tasks?limit=0, 400, bad_parameter",
        "/internal/tasks?limit=501, 400, bad_parameter",
        "/internal/tasks?limit=x, 400, bad_parameter",
        "/internal/tasks?before=*, 400, bad_parameter",
        "/internal/tasks/none/events?after=1, 400, bad_parameter",
        "/internal/tasks/none/events?limit=0, 400, bad_parameter",
        "/internal/tasks/none?at=now, 400, bad_parameter",
        "/internal/tasks/none?at=0:999999999, 503, projection_behind",
        "/internal/tasks/none/events?at=now, 400, bad_parameter",
        "/internal/tasks/none/events?at=0:999999999, 503, projection_behind"
    })
    void shouldAnswerWithAProblem(String path, int status, String code) throws Exception {
        // when
        Answer answer = get(path);

        // then
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.type()).isEqualTo("application/problem+json");
        assertThat(answer.json()).containsEntry("code", code).containsEntry("status", status);
    }

    private static Event task(String id) {
        return Event.root(id, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                .source("user")
                .taskId(id)
                .build();
    }

    /** Writes what follows from {@code cause} to the journal, past the machine, which does not read it. */
    private JournalCursor write(Event cause, KnownEventType type, Map<String, @Nullable Object> payload) {
        Event fact = cause.derive(type, 0, Instant.now()).payload(payload).build();
        RecordMetadata written = TestBroker.shared().produce(topics.journal(), fact);
        return new JournalCursor(written.partition(), written.offset());
    }

    private Answer get(String path) throws IOException, InterruptedException, MalformedEventException {
        HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(URI.create(base + path)).timeout(LIMIT).build(),
                HttpResponse.BodyHandlers.ofString());
        return new Answer(
                response.statusCode(),
                response.headers().firstValue("Content-Type").orElse("").split(";", 2)[0],
                Json.readObject(response.body().getBytes(StandardCharsets.UTF_8)));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
