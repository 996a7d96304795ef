package dev.millrace.gateway.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.testing.RequiresBroker;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.Map;
import org.junit.jupiter.api.Test;

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
    void shouldCountWhatItAccepts() throws Exception {
        // when
        gateway.postJson("/v1/tasks", Map.of("text", "hello"));

        // then
        assertThat(gateway.get("/q/metrics").body())
                .contains("millrace_gateway_accepted_total{lane=\"external\"}")
                .contains("millrace_gateway_listeners");
    }

    @Test
    void shouldAllowNoOtherOriginByDefault() throws Exception {
        // when
        Answer answer = gateway.send(gateway.request("/v1/tasks")
                .header("Content-Type", "application/json")
                .header("Origin", "https://elsewhere.example")
                .POST(BodyPublishers.ofString("{\"text\":\"hello\"}")));

        // then
        assertThat(answer.header("Access-Control-Allow-Origin")).isEmpty();
    }
}
