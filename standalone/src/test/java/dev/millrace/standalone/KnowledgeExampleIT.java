package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.NpmPackages;
import dev.millrace.testing.ServiceProcess;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program of {@code examples/listening} that takes a text in and asks about it, with the knowledge service. */
class KnowledgeExampleIT {

    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final String SCRIPT = """
            rules:
              - user: 'gate oiled'
                steps:
                  - calls: [{ tool: search_knowledge, arguments: { query: "When is the gate oiled?" } }]
                  - text: "{{result.search_knowledge}}"
            """;

    @TempDir
    Path folder;

    @Test
    @DisplayName("F-294, F-295: the example program takes a text in, and the answer to its question has it")
    void shouldRunTheExample() throws Exception {
        Path jar = ServiceProcess.repository().resolve("knowledge/target/quarkus-app/quarkus-run.jar");
        boolean ready = Files.exists(jar) && NpmPackages.runs("node", "--version");
        if (!ready) {
            System.err.println("SKIPPED: KnowledgeExampleIT needs Node on the PATH and the knowledge service"
                    + " (./mvnw package -pl knowledge -am -Dmaven.test.skip=true)");
        }
        Assumptions.assumeTrue(ready, "no Node, or the knowledge service is not built");
        int port = FreePort.find();
        try (ServiceProcess up = ServiceProcess.standalone(
                        "up",
                        "--port",
                        String.valueOf(port),
                        "--kafka-port",
                        "0",
                        "--knowledge",
                        "--script",
                        Files.writeString(folder.resolve("script.yaml"), SCRIPT).toString())
                .jvm("-Dmillrace.knowledge-jar=" + jar)
                .start(folder)) {
            up.awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
            HttpApi api = HttpApi.onPort(port);
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> api.get("/v1/tools").body().contains("\"search_knowledge\""));

            assertThat(ListeningExample.run(folder, "rag.js", "http://127.0.0.1:" + port))
                    .startsWith("indexed\n[search_knowledge]\n")
                    .contains("first Monday");
        }
    }
}
