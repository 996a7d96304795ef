package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two tenants in one Millrace: what one has is not to be found by the other, by whatever route and id. */
class TenantsIT {

    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final String SECRET = "the wheel is of oak";
    private static final String A2A_MESSAGE =
            "{\"message\":{\"messageId\":\"m1\",\"role\":\"ROLE_USER\",\"taskId\":\"TASK\","
                    + "\"parts\":[{\"text\":\"hi\"}]}}";
    private static final Pattern VALUE = Pattern.compile("\\{(\\w+)}");
    private static final Set<String> METHODS = Set.of("GET", "POST", "PUT", "DELETE");

    /** Routes whose names are those of the whole installation. */
    private static final Set<String> OF_NO_TENANT = Set.of(
            "/v1/agents/{name}",
            "/v1/agui/{agent}",
            "/v1/models/{model}",
            "/v1/rules/{id}",
            "/v1/webhooks/{source}",
            "/a2a/{agent}",
            "/a2a/{agent}/.well-known/agent-card.json",
            // of a service that does not run here: KnowledgeServiceIT
            "/v1/knowledge/documents/{id}",
            "/v1/knowledge/uploads/{name}");

    /** What is no 404, since it is about the asker's own: names that tenants choose, and what is still to come. */
    private static final Map<String, Integer> OWN = Map.ofEntries(
            // a task of their own that has not begun yet
            Map.entry("POST /v1/tasks/{taskId}/cancel", 202),
            Map.entry("PUT /v1/schedules/{name}", 201),
            Map.entry("GET /v1/memory/{namespace}", 200),
            Map.entry("PUT /v1/memory/{namespace}/{path}", 201),
            Map.entry("GET /v1/sessions/{sessionId}/queue", 200),
            Map.entry("POST /v1/sessions/{sessionId}/queue", 202),
            Map.entry("GET /v1/sessions/{sessionId}/stream", 200),
            Map.entry("GET /a2a/{agent}/tasks", 200));

    /** With the id of a task in place of {@code TASK}. */
    private static final Map<String, String> BODIES = Map.of(
            "POST /v1/approvals/{callId}",
            "{\"decision\":\"approve\"}",
            "POST /v1/sessions/{sessionId}/prompt",
            "{\"content\":\"hi\"}",
            "POST /sessions/{sessionId}/prompt",
            "{\"content\":\"hi\"}",
            "POST /v1/sessions/{sessionId}/queue",
            "{\"type\":\"MESSAGE_RECEIVED\",\"payload\":{\"text\":\"hi\"}}",
            "POST /a2a/{agent}/message:send",
            A2A_MESSAGE,
            "POST /a2a/{agent}/message:stream",
            A2A_MESSAGE,
            "PUT /v1/schedules/{name}",
            "{\"cron\":\"0 0 1 1 *\",\"text\":\"hi\"}",
            "PUT /v1/memory/{namespace}/{path}",
            "hi");

    private final int port = FreePort.find();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @TempDir
    private Path folder = Path.of("");

    private record Route(String method, String path) {

        @Override
        public String toString() {
            return method + ' ' + path;
        }
    }

    private record Answer(int status, String body) {

        JsonNode json() throws IOException {
            return Json.MAPPER.readTree(body);
        }
    }

    @Test
    @DisplayName("each route with an id of another tenant says that there is nothing, and does nothing")
    void shouldFindNothingOfOtherTenants() throws Exception {
        Files.createDirectories(folder.resolve("agents/clerk"));
        Files.writeString(folder.resolve("agents/clerk/AGENT.md"), """
                ---
                name: clerk
                description: Answers.
                tools: []
                expose: [a2a]
                ---
                Answer.
                """);
        Files.createDirectories(folder.resolve("agents/secretary"));
        Files.writeString(folder.resolve("agents/secretary/AGENT.md"), """
                ---
                name: secretary
                description: Answers for one tenant.
                tools: [http_get]
                ---
                Answer.
                """);
        try (ServiceProcess up = ServiceProcess.standalone(
                        "up", "--token", "--port", String.valueOf(port), "--kafka-port", "0")
                .env("MILLRACE_AGENT_RESERVED_OURS_NAMESPACES", "rival")
                .env("MILLRACE_AGENT_RESERVED_OURS_AGENTS", "secretary")
                .env("MILLRACE_AGENT_RESERVED_OURS_TOOLS", "http_*")
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"))) {
            // given
            String owner = Files.readString(folder.resolve("data/token")).strip();
            String acme = key("acme");
            Map<String, String> ids = things(owner);
            Map<String, Answer> before = seen(owner, ids);
            assertThat(before).allSatisfy((path, answer) -> {
                assertThat(answer.status()).as(path).isEqualTo(200);
                assertThat(answer.body()).as(path).contains(SECRET);
            });

            // when
            Map<String, String> wrong = new LinkedHashMap<>();
            Set<String> unknown = new TreeSet<>();
            List<Route> routes = routes(owner);
            for (Route route : routes) {
                if (!OF_NO_TENANT.contains(route.path())) {
                    String path = filled(route.path(), ids, unknown);
                    Answer answer = send(acme, route.method(), path, body(route, ids));
                    if (answer.status() != OWN.getOrDefault(route.toString(), 404)
                            || answer.body().contains(SECRET)) {
                        wrong.put(route.toString(), answer.status() + " " + answer.body());
                    }
                }
            }

            // then
            assertThat(unknown).as("of whom are these?").isEmpty();
            assertThat(wrong).isEmpty();
            assertThat(routes.stream().map(Route::toString))
                    .containsAll(OWN.keySet())
                    .containsAll(BODIES.keySet());
            assertThat(routes.stream().map(Route::path)).containsAll(OF_NO_TENANT);
            assertThat(seen(owner, ids)).isEqualTo(before);
            assertReserved(owner, acme);
            assertThat(up.isAlive()).isTrue();
        }
    }

    /** What is reserved for others is not there, whoever asks in its own namespace or for a task in it. */
    private void assertReserved(String owner, String acme) throws Exception {
        for (String list : List.of("/v1/agents", "/v1/models", "/v1/tools", "/v1/tools?agent=general")) {
            String shown = send(acme, "GET", list, null).body();
            assertThat(shown).as(list).doesNotContain("secretary");
            if (list.startsWith("/v1/tools")) {
                assertThat(shown).as(list).doesNotContain("http_get");
            }
        }
        // what its definition names is no secret; what it has is
        assertThat(send(acme, "GET", "/v1/agents/explore", null)
                        .json()
                        .path("tools")
                        .toString())
                .contains("read_file")
                .doesNotContain("http_get");
        assertThat(send(owner, "GET", "/v1/agents/explore", null)
                        .json()
                        .path("tools")
                        .toString())
                .contains("http_get");
        for (String one : List.of("/v1/agents/secretary", "/v1/models/secretary", "/v1/tools?agent=secretary")) {
            assertThat(send(acme, "GET", one, null).status()).as(one).isEqualTo(404);
            assertThat(send(owner, "GET", one, null).status()).as(one).isEqualTo(200);
        }
        assertThat(send(owner, "GET", "/v1/agents/secretary", null).json().path("namespaces"))
                .hasToString("[\"rival\"]");
        Answer refused = send(acme, "POST", "/v1/tasks", "{\"text\":\"hi\",\"taskType\":\"secretary\"}");
        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.json().path("agents").toString()).contains("clerk").doesNotContain("secretary");
        // who may do everything, in the one namespace and in the other
        String taskId = done(owner, "POST", "/v1/tasks", asked("rival"))
                .json()
                .path("taskId")
                .asText();
        awaitCompleted(owner, taskId);
        assertThat(send(owner, "POST", "/v1/tasks", asked("acme")).status()).isEqualTo(422);
    }

    private void awaitCompleted(String owner, String taskId) {
        await().atMost(LIMIT)
                .until(() -> send(owner, "GET", "/v1/tasks/" + taskId + "?namespace=rival", null)
                        .body()
                        .contains("\"completed\""));
    }

    private static String asked(String namespace) {
        return "{\"text\":\"hi\",\"taskType\":\"secretary\",\"namespace\":\"" + namespace + "\"}";
    }

    /** One of everything in the namespace {@code rival}, by the name of the parameter of routes. */
    private Map<String, String> things(String owner) throws Exception {
        String taskId = done(
                        owner,
                        "POST",
                        "/v1/tasks",
                        "{\"text\":\"" + SECRET
                                + "\",\"namespace\":\"rival\",\"sessionId\":\"talk\",\"taskType\":\"clerk\"}")
                .json()
                .path("taskId")
                .asText();
        awaitCompleted(owner, taskId);
        Answer response = done(
                owner,
                "POST",
                "/v1/responses?namespace=rival",
                "{\"model\":\"clerk\",\"input\":\"" + SECRET + "\"}",
                "X-Namespace",
                "rival");
        done(owner, "PUT", "/v1/memory/rival/facts/a.md", SECRET);
        done(
                owner,
                "PUT",
                "/v1/schedules/yearly?namespace=rival",
                "{\"cron\":\"0 0 1 1 *\",\"text\":\"" + SECRET + "\"}");
        String forgetId = done(
                        owner,
                        "POST",
                        "/v1/forget",
                        "{\"scope\":\"session\",\"sessionId\":\"nothing\",\"namespace\":\"rival\"}")
                .json()
                .path("forgetId")
                .asText();
        // a message to a task that has ended
        done(
                owner,
                "POST",
                "/v1/events",
                "{\"specversion\":\"1.0\",\"id\":\"late\",\"source\":\"x\",\"type\":\"MESSAGE_RECEIVED\",\"subject\":\""
                        + taskId + "\",\"namespace\":\"rival\",\"data\":{\"text\":\"" + SECRET + "\"}}",
                "Content-Type",
                "application/cloudevents+json");
        await().atMost(LIMIT)
                .until(() -> send(owner, "GET", "/v1/dead-letters?namespace=rival", null)
                        .body()
                        .contains(SECRET));
        String cursor = send(owner, "GET", "/v1/dead-letters?namespace=rival", null)
                .json()
                .at("/deadLetters/0/cursor")
                .asText();
        Map<String, String> ids = new TreeMap<>(Map.of(
                "taskId",
                taskId,
                "sessionId",
                "talk",
                "eventId",
                taskId,
                "cursor",
                cursor,
                "forgetId",
                forgetId,
                "name",
                "yearly",
                "path",
                "facts/a.md",
                "version",
                "1",
                "namespace",
                "acme",
                "agent",
                "clerk"));
        ids.put("callId", taskId + "/1/0-1-x");
        ids.put("id", taskId);
        ids.put("responseId", response.json().path("id").asText());
        assertThat(ids.values()).doesNotContain("");
        return ids;
    }

    /** What the tenant itself is shown of it. */
    private Map<String, Answer> seen(String owner, Map<String, String> ids) throws Exception {
        Map<String, Answer> seen = new TreeMap<>();
        for (String path : List.of(
                "/v1/tasks/" + ids.get("taskId") + "?namespace=rival",
                "/v1/tasks/" + ids.get("taskId") + "/events?namespace=rival",
                "/v1/sessions/talk/messages?namespace=rival",
                "/v1/memory/rival/facts/a.md",
                "/v1/schedules/yearly?namespace=rival",
                "/v1/events/" + ids.get("eventId") + "/chain?namespace=rival",
                "/v1/queue/" + ids.get("eventId") + "?namespace=rival",
                "/v1/dead-letters/" + ids.get("cursor") + "?namespace=rival")) {
            Answer answer = send(owner, "GET", path, null);
            // how far the reader of the journal has come
            seen.put(path, new Answer(answer.status(), answer.body().replaceAll(",\"upTo\":\"[0-9:]+\"", "")));
        }
        return seen;
    }

    private String key(String namespace) throws IOException {
        String grants = List.of("read", "write", "approve", "memory", "admin").stream()
                .map(permission -> namespace + ':' + permission)
                .collect(Collectors.joining(","));
        String keys = folder.resolve("data/keys.json").toString();
        CommandRun made = CommandRun.of("keys", "create", namespace, "--grant", grants, "--file", keys);
        String key = made.out().strip();
        await().atMost(LIMIT)
                .until(() -> send(key, "GET", "/v1/tasks?namespace=" + namespace, null)
                                .status()
                        == 200);
        return key;
    }

    /** All with an id in the path, as the gateway itself describes them. */
    private List<Route> routes(String key) throws Exception {
        JsonNode paths = send(key, "GET", "/openapi?format=json", null).json().path("paths");
        List<Route> routes = new ArrayList<>();
        paths.properties().stream()
                .filter(path -> path.getKey().contains("{"))
                .forEach(path -> path.getValue().properties().stream()
                        .map(operation -> operation.getKey().toUpperCase(Locale.ROOT))
                        .filter(METHODS::contains)
                        .forEach(method -> routes.add(new Route(method, path.getKey()))));
        assertThat(routes).hasSizeGreaterThan(50);
        // what makes something of their own comes last
        routes.sort(Comparator.comparing(route -> route.method().equals("PUT")));
        return routes;
    }

    private static String body(Route route, Map<String, String> ids) {
        return BODIES.getOrDefault(route.toString(), "{}").replace("TASK", ids.getOrDefault("taskId", ""));
    }

    private static String filled(String path, Map<String, String> ids, Set<String> unknown) {
        return VALUE.matcher(path).replaceAll(parameter -> {
            boolean response = path.startsWith("/v1/responses/");
            String id = ids.get(response ? "responseId" : parameter.group(1));
            if (id == null) {
                unknown.add(path);
                return "x";
            }
            return Matcher.quoteReplacement(id);
        });
    }

    private Answer done(String key, String method, String path, String body, String... headers)
            throws IOException, InterruptedException {
        Answer answer = send(key, method, path, body, headers);
        assertThat(answer.status()).as(answer.body()).isBetween(200, 202);
        return answer;
    }

    /** The first half second of what is said: streams have no end. */
    private Answer send(String key, String method, String path, @Nullable String body, String... headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(LIMIT)
                .header("Authorization", "Bearer " + key)
                .header("A2A-Version", "1.0");
        if (headers.length > 0) {
            request.headers(headers);
        }
        boolean hasBody = body != null && (method.equals("POST") || method.equals("PUT"));
        if (hasBody && !List.of(headers).contains("Content-Type")) {
            request.header(
                    "Content-Type",
                    path.contains("/memory/") && method.equals("PUT") ? "text/markdown" : "application/json");
        }
        HttpResponse<InputStream> answer = http.send(
                request.method(method, hasBody ? BodyPublishers.ofString(body) : BodyPublishers.noBody())
                        .build(),
                HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream said = answer.body()) {
            boolean stream =
                    answer.headers().firstValue("Content-Type").orElse("").startsWith("text/event-stream");
            return new Answer(answer.statusCode(), stream ? beginning(said) : text(said.readAllBytes()));
        }
    }

    private static String beginning(InputStream said) throws IOException, InterruptedException {
        Thread.sleep(500);
        return text(said.readNBytes(said.available()));
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
