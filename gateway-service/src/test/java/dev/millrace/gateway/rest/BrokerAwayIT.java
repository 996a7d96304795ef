package dev.millrace.gateway.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.rest.GatewayClient.Answer;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nothing listens where the broker should be. */
@QuarkusTest
@TestProfile(BrokerAwayIT.NoBroker.class)
class BrokerAwayIT {

    /** A port that was free a moment ago. */
    public static final class NoBroker implements QuarkusTestProfile {
        @Override
        public Map<String, String> getConfigOverrides() {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                return Map.of(
                        "kafka.bootstrap.servers",
                        "127.0.0.1:" + socket.getLocalPort(),
                        "millrace.gateway.produce-timeout",
                        "1500ms",
                        "millrace.gateway.agent-url",
                        "http://127.0.0.1:" + socket.getLocalPort(),
                        "millrace.gateway.sessions.enabled",
                        "false",
                        "quarkus.http.test-port",
                        "0");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private final GatewayClient gateway = new GatewayClient();

    @ParameterizedTest
    @ValueSource(strings = {"/v1/tasks", "/v1/tasks?wait=10s"})
    void shouldSayWithinTheTimeoutThatKafkaIsAway(String path) throws Exception {
        // when
        long start = System.nanoTime();
        Answer answer = gateway.postJson(path, Map.of("text", "hello"));
        Duration took = Duration.ofNanos(System.nanoTime() - start);

        // then
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.text("code")).isEqualTo("broker_unavailable");
        assertThat(answer.header("Retry-After")).isEqualTo("1");
        assertThat(took).as("less than what the client would wait for the task").isLessThan(Duration.ofSeconds(9));
    }

    @Test
    void shouldSayThatKafkaIsAwayForEventsToo() throws Exception {
        // when
        Answer answer = gateway.send(gateway.request("/v1/events")
                .header("Content-Type", "application/json")
                .header("ce-id", "1")
                .header("ce-type", "a.b")
                .header("ce-source", "/test")
                .header("ce-specversion", "1.0")
                .POST(BodyPublishers.ofString("{}")));

        // then
        assertThat(answer.text("code")).isEqualTo("broker_unavailable");
    }

    @Test
    @DisplayName("clients of OpenAI's API are to repeat what was not sent, and not what was: it may be stored")
    void shouldHaveRepeatedOnlyWhatWasNotSent() throws Exception {
        // when
        Answer chat = gateway.postJson(
                "/v1/chat/completions",
                Map.of("model", "general", "messages", List.of(Map.of("role", "user", "content", "hello"))));
        Answer response = gateway.postJson("/v1/responses", Map.of("model", "general", "input", "hello"));

        // then
        assertThat(chat.status()).isEqualTo(503);
        assertThat(chat.body()).contains("broker_unavailable");
        assertThat(chat.header("x-should-retry"))
                .as("it could not be listened for")
                .isEqualTo("true");
        assertThat(response.status()).isEqualTo(503);
        assertThat(response.body()).contains("broker_unavailable");
        assertThat(response.header("x-should-retry")).isEqualTo("false");
    }

    @Test
    @DisplayName(
            "F-238 prompt_route_no_session_support: F-225: where there are no sessions every route of theirs is a 503")
    void shouldSayThatThereAreNoSessions() throws Exception {
        for (String path : List.of("/sessions", "/sessions/ada", "/sessions/ada/messages")) {
            Answer answer = gateway.get(path);
            assertThat(answer.status()).as(path).isEqualTo(503);
            assertThat(answer.body()).isEqualTo("{\"error\":\"Session support not available\"}");
        }
        Answer prompt = gateway.postJson("/sessions/ada/prompt", Map.of("content", "hello"));
        assertThat(prompt.status()).isEqualTo(503);
        assertThat(prompt.body()).isEqualTo("{\"error\":\"Session support not available\"}");
        assertThat(gateway.get("/v1/sessions").text("code")).isEqualTo("sessions_disabled");
        assertThat(gateway.postJson("/v1/sessions/s/prompt", Map.of("content", "x"))
                        .text("error"))
                .isEqualTo("Session support not available");
    }

    @Test
    void shouldNotBeReadyButAlive() throws Exception {
        assertThat(gateway.get("/q/health/ready").status()).isEqualTo(503);
        assertThat(gateway.get("/q/health/live").status()).isEqualTo(200);
    }
}
