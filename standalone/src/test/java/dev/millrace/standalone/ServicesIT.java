package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each service as a process of its own, told by environment variables where the others are. */
class ServicesIT {

    private static final String CONTENT = "The tail race is below the wheel.";

    @TempDir
    Path temp;

    @Test
    @DisplayName("broker, agent, tools and gateway as four processes do the main job, probes and metrics apart")
    void shouldDoTheMainJobInFourProcesses() throws IOException {
        // given
        int brokerPort = FreePort.find();
        int agentPort = FreePort.find();
        int toolsPort = FreePort.find();
        int gatewayPort = FreePort.find();
        Path workspace = Files.createDirectories(temp.resolve("workspace"));
        Files.writeString(workspace.resolve("notes.txt"), CONTENT);
        try (ServiceProcess broker = ServiceProcess.standalone(
                                "broker", "--port", Integer.toString(brokerPort), "--data", "data")
                        .start(temp)
                        .awaitOutput("Kafka is ready", ServiceProcess.START_LIMIT);
                ServiceProcess agent = service("agent-service", brokerPort, agentPort)
                        .env("MILLRACE_AGENT_STATE_DIR", temp.resolve("agent").toString())
                        .start(temp);
                ServiceProcess tools = service("tool-service", brokerPort, toolsPort)
                        .env("MILLRACE_TOOLS_WORKSPACE", workspace.toString())
                        .start(temp);
                ServiceProcess gateway = service("gateway-service", brokerPort, gatewayPort)
                        .env("MILLRACE_GATEWAY_AGENT_URL", "http://127.0.0.1:" + agentPort)
                        .start(temp)) {
            agent.awaitReady();
            tools.awaitReady();
            gateway.awaitReady();
            HttpApi api = HttpApi.onPort(gatewayPort);

            // when
            String taskId = api.submit("Which files are in the workspace, and what does notes.txt say?");
            JsonNode task = api.awaitEnd(taskId, Duration.ofSeconds(60));

            // then
            assertThat(task.path("state").asText()).isEqualTo("completed");
            assertThat(task.path("response").asText()).contains(CONTENT);
            List<JsonNode> events = api.events(taskId);
            assertThat(events)
                    .filteredOn(event -> event.path("type").asText().equals("TOOL_CALL_COMPLETED"))
                    .extracting(event -> event.path("payload").path("toolName").asText())
                    .containsExactly("list_files", "read_file");
            assertThat(broker.isAlive()).isTrue();

            // and: all of it is for this machine only, unless somebody says otherwise
            for (int port : new int[] {
                brokerPort,
                agentPort,
                toolsPort,
                gatewayPort,
                gateway.management("").getPort()
            }) {
                assertThatThrownBy(() -> new Socket("127.0.0.2", port).close())
                        .as("port %d on another address", port)
                        .isInstanceOf(ConnectException.class);
            }
            assertThat(gateway.output()).contains("listens on 127.0.0.1:" + gatewayPort + ", for this machine only");

            // and: probes and metrics are at a port of their own, and nothing else is there
            for (ServiceProcess service : List.of(agent, tools, gateway)) {
                HttpApi management = new HttpApi(service.management(""));
                assertThat(management.get("/q/metrics").body()).contains("jvm_memory_used_bytes");
                assertThat(management.status("/q/health/live")).isEqualTo(200);
                for (String elsewhere : List.of("/health", "/v1/tasks", "/internal/tasks", "/openapi", "/console/")) {
                    assertThat(management.status(elsewhere)).as(elsewhere).isEqualTo(404);
                }
            }
            for (int port : new int[] {agentPort, toolsPort, gatewayPort}) {
                assertThat(HttpApi.onPort(port).status("/q/metrics")).isEqualTo(404);
                assertThat(HttpApi.onPort(port).status("/q/health/ready")).isEqualTo(404);
            }
        }
    }

    private static ServiceProcess.Builder service(String module, int brokerPort, int httpPort) {
        return ServiceProcess.service(module)
                .env("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:" + brokerPort)
                .env("MILLRACE_TOPICS_CREATE", "true")
                .env("MILLRACE_TOPICS_PARTITIONS", "2")
                .env("QUARKUS_HTTP_PORT", Integer.toString(httpPort));
    }
}
