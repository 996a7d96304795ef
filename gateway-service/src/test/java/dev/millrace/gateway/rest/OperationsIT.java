package dev.millrace.gateway.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Segment;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class OperationsIT {
    private final GatewayClient gateway = new GatewayClient();

    @Test
    void shouldBeReadyWhenTheBrokerAnswers() throws Exception {
        await().atMost(GatewayClient.LIMIT)
                .until(() -> gateway.get("/q/health/ready").status() == 200);
        assertThat(gateway.get("/q/health/ready").body()).contains("gateway: Kafka");
        assertThat(gateway.get("/q/health/live").status()).isEqualTo(200);
    }

    @Test
    void shouldDescribeItself() throws Exception {
        // when
        Answer openApi = gateway.get("/openapi?format=json");

        // then
        assertThat(openApi.status()).isEqualTo(200);
        Map<String, ?> document = openApi.json();
        assertThat((Map<?, ?>) document.get("paths"))
                .extracting(Map::keySet)
                .asString()
                .contains(
                        "/v1/tasks",
                        "/v1/tasks/{taskId}",
                        "/v1/tasks/{taskId}/events",
                        "/v1/tasks/{taskId}/stream",
                        "/v1/stream",
                        "/v1/events",
                        "/v1/events/{eventId}/chain",
                        "/v1/agents",
                        "/v1/agents/{name}",
                        "/v1/tools",
                        "/v1/usage",
                        "/v1/chat/completions",
                        "/v1/models")
                .doesNotContain("/internal");
        assertThat(openApi.body())
                .contains("\"title\" : \"Millrace\"")
                .contains("application/problem+json")
                .contains("unknown_agent")
                .contains("Idempotency-Key");
        assertThat(gateway.get("/q/swagger-ui/").status()).isEqualTo(200);
    }

    @Test
    @DisplayName("the console: any address below /console is the page, / leads there, and nothing else is touched")
    void shouldServeTheConsole() throws Exception {
        Answer page = gateway.get("/console/tasks/build.17");
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.header("Content-Type")).isEqualTo("text/html; charset=utf-8");
        assertThat(page.header("Content-Security-Policy"))
                .contains("default-src 'none'", "require-trusted-types-for 'script'", "frame-ancestors 'none'");
        assertThat(page.header("X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(page.body()).isEqualTo(gateway.get("/console").body()).contains("<mill-app>", "importmap");
        assertThat(gateway.get("/console/-/app.js").header("Content-Type")).isEqualTo("text/javascript; charset=utf-8");
        assertThat(gateway.get("/_static/lit/3.3.3/index.js").status()).isEqualTo(200);
        assertThat(gateway.get("/console/-/nothing.js").text("code")).isEqualTo("unknown_route");
        assertThat(gateway.send(gateway.request("/console/-/app.js")
                                .header(
                                        "If-None-Match",
                                        gateway.get("/console/-/app.js").header("ETag")))
                        .status())
                .isEqualTo(304);
        assertThat(gateway.send(gateway.request("/console/").header("Sec-Fetch-Site", "cross-site"))
                        .status())
                .as("a link from elsewhere")
                .isEqualTo(200);
        assertThat(gateway.get("/").status()).isEqualTo(302);
        assertThat(gateway.get("/").header("Location")).isEqualTo("/console/");
        assertThat(gateway.get("/v1/nothing").text("code")).isEqualTo("unknown_route");
    }

    @Test
    @DisplayName("F-249: clients of plain agent servers find out that it is there, and which route is not")
    void shouldAnswerPlainClients() throws Exception {
        // when
        Answer health = gateway.get("/health");
        Answer unknown = gateway.postJson("/chat", Map.of());

        // then
        assertThat(health.status()).isEqualTo(200);
        assertThat(health.json().keySet()).isEqualTo(Set.of("status", "timestamp", "version"));
        assertThat(health.text("status")).isEqualTo("ok");
        assertThat(unknown.status()).isEqualTo(404);
        assertThat(unknown.json())
                .containsEntry("error", "Not Found")
                .containsEntry("path", "/chat")
                .containsEntry("method", "POST");
    }

    @Test
    void shouldCountWhatItAccepts() throws Exception {
        // when
        gateway.postJson("/v1/tasks", Map.of("text", "hello"));

        // then
        assertThat(gateway.get("/q/metrics").body())
                .contains("millrace_gateway_accepted_total{lane=\"external\"}")
                .contains("millrace_gateway_listeners");
    }

    @Test
    @DisplayName("a page of another origin starts nothing, and is told nothing that it could read")
    void shouldAllowNoOtherOriginByDefault() throws Exception {
        // given
        String id = Ids.random();
        String marker = Ids.random();

        // when
        Answer answer = gateway.send(gateway.request("/v1/tasks")
                .header("Content-Type", "application/json")
                .header("Origin", "https://elsewhere.example")
                .POST(BodyPublishers.ofString("{\"text\":\"hello\",\"id\":\"" + id + "\"}")));
        gateway.postJson("/v1/tasks", Map.of("text", "hello", "id", marker));

        // then
        assertThat(answer.status()).isEqualTo(403);
        assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(answer.json()).containsEntry("code", "foreign_origin").containsEntry("instance", "/v1/tasks");
        assertThat(answer.header("Access-Control-Allow-Origin")).isEmpty();
        try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(Segment.EXTERNAL))) {
            assertThat(lane.events(
                            all -> all.stream().anyMatch(event -> event.id().equals(marker)), GatewayClient.LIMIT))
                    .extracting(Event::id)
                    .doesNotContain(id);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/v1/tasks", "/v1/stream", "/v1/nothing", "/openapi", "/q/metrics", "/q/health/ready", "/nowhere"
            })
    @DisplayName("the door is before every route, Quarkus' own and those of the management port included")
    void shouldStandBeforeEveryRoute(String path) throws Exception {
        assertThat(gateway.send(gateway.request(path).header("Sec-Fetch-Site", "cross-site"))
                        .text("code"))
                .isEqualTo("foreign_origin");
        assertThat(gateway.send(gateway.request(path)
                                .header("Origin", "null")
                                .header("Access-Control-Request-Method", "POST")
                                .method("OPTIONS", BodyPublishers.noBody()))
                        .status())
                .isEqualTo(403);
        assertThat(rawStatus(
                        gateway.at(path).getPort(),
                        "GET " + path + " HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"))
                .isEqualTo(421);
    }

    @Test
    void shouldServeItsOwnPages() throws Exception {
        // given
        String own = "http://localhost:" + gateway.port();

        // when
        int status = rawStatus(
                gateway.port(),
                "POST /v1/tasks HTTP/1.1\r\nHost: localhost:" + gateway.port() + "\r\nOrigin: " + own
                        + "\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\nContent-Length: 16\r\n"
                        + "Connection: close\r\n\r\n{\"text\":\"hello\"}");

        // then
        assertThat(status).isEqualTo(202);
        assertThat(gateway.send(gateway.request("/q/swagger-ui/").header("Sec-Fetch-Site", "cross-site"))
                        .status())
                .isEqualTo(200);
    }

    /** The status of a request that is sent as it is; Java's client lets nobody set Host. */
    private static int rawStatus(int port, String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout((int) GatewayClient.LIMIT.toMillis());
            socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
            String line = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))
                    .readLine();
            return Integer.parseInt(line.split(" ", 3)[1]);
        }
    }
}
