package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What "accepted" means: how every producer of an installation really sends, as Kafka's client itself says. */
class ProducersIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** Who writes what is promised: the names by which the brokers know them. */
    private static final List<String> EXPECTED = List.of(
            "millrace-gateway", // what is answered with 202
            "millrace-agent-replies", // replies of models
            "millrace-reflection-replies",
            "millrace-tools-replies", // results of tools
            "millrace-webhooks-replies",
            "millrace-agent-definitions-writer",
            "millrace-agent-rates",
            "millrace-agent-tokens",
            "millrace\\.agent-.*-producer", // the two machines
            "millrace\\.reflection-.*-producer",
            "millrace-tools-publish", // definitions of tools
            "millrace-tools-variables"); // what tools keep

    private static final Pattern PRODUCER =
            Pattern.compile("ProducerConfig values: *\\R((?:[ \\t]+[a-z0-9.]+ = [^\\r\\n]*\\R)+)");
    private static final Pattern SETTING = Pattern.compile("(?m)^[ \\t]+([a-z0-9.]+) = (.*)$");

    @TempDir
    Path folder;

    @Test
    @DisplayName("every producer waits for all in-sync replicas, and sends nothing twice")
    void shouldWaitForAllReplicasInEveryProducer() throws IOException {
        Path script = folder.resolve("keeps.yaml");
        Files.writeString(script, """
                rules:
                  - steps:
                      - calls:
                          - tool: set_env
                            arguments: { key: "WHEEL", value: "oak" }
                      - text: "kept"
                """);
        int port = FreePort.find();

        // when: a task that uses all of it has come to its end
        try (ServiceProcess up = up(port, script)) {
            HttpApi api = HttpApi.onPort(port);
            assertThat(api.awaitEnd(api.submit("keep it"), LIMIT).path("state").asText())
                    .isEqualTo("completed");

            // then
            await().atMost(LIMIT).untilAsserted(() -> {
                Map<String, Map<String, String>> producers = producers(up.output());
                assertThat(EXPECTED)
                        .as("in %s", producers.keySet())
                        .allSatisfy(name -> assertThat(producers.keySet()).anyMatch(id -> id.matches(name)));
            });
            assertThat(producers(up.output()))
                    .allSatisfy((id, settings) -> assertThat(settings)
                            .as(id)
                            .containsEntry("acks", "-1")
                            .containsEntry("enable.idempotence", "true"));
        }
    }

    /** The settings of each producer by its client id, as they were when it was made. */
    private static Map<String, Map<String, String>> producers(String output) {
        Map<String, Map<String, String>> producers = new HashMap<>();
        Matcher producer = PRODUCER.matcher(output);
        while (producer.find()) {
            Map<String, String> settings = new HashMap<>();
            Matcher setting = SETTING.matcher(producer.group(1));
            while (setting.find()) {
                settings.put(setting.group(1), setting.group(2).strip());
            }
            producers.put(settings.getOrDefault("client.id", ""), settings);
        }
        return producers;
    }

    private ServiceProcess up(int port, Path script) {
        return ServiceProcess.standalone(
                        "up", "--port", String.valueOf(port), "--kafka-port", "0", "--script", script.toString())
                .jvm("-Dquarkus.log.category.\"org.apache.kafka.common.config.AbstractConfig\".level=INFO")
                // nobody is asked with this key; it is there for its limit
                .jvm("-Dmillrace.llm.models.spare.provider=openai")
                .jvm("-Dmillrace.llm.models.spare.base-url=http://127.0.0.1:9/v1")
                .jvm("-Dmillrace.llm.models.spare.model=none")
                .jvm("-Dmillrace.llm.models.spare.key=spare")
                .jvm("-Dmillrace.llm.keys.spare.max-requests=1000")
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
    }
}
