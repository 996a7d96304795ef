package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.broker.EmbeddedBroker;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code up} says when it cannot start: one message, exit code 1, no stack trace, nothing left behind. */
class UpFailuresIT {

    private static final Duration END_LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path temp;

    @Test
    @DisplayName("a port in use for HTTP")
    void shouldNameAnHttpPortInUse() throws IOException {
        // given
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());

            // when
            String message = failureOf("up", "--port", port, "--data", "data", "--workspace", "workspace");

            // then
            assertThat(message).contains("HTTP port " + port + " is in use", "--port");
            assertThat(temp.resolve("data")).doesNotExist();
        }
    }

    @Test
    @DisplayName("a port in use for Kafka")
    void shouldNameAKafkaPortInUse() throws IOException {
        // given
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());

            // when
            String message = failureOf(up("--kafka-port", port));

            // then
            assertThat(message).contains("Kafka port " + port + " is in use");
        }
    }

    @Test
    @DisplayName("a data folder that another Millrace uses")
    void shouldNameALockedDataFolder() throws Exception {
        // given
        try (EmbeddedBroker running = EmbeddedBroker.start(temp.resolve("data/kafka"), 0)) {
            // when
            String message = failureOf(up("--kafka-port", "0"));

            // then
            assertThat(message)
                    .contains(running.dataFolder().toString(), "in use by another running broker")
                    .contains(Long.toString(ProcessHandle.current().pid()))
                    .contains("Kafka port " + running.bootstrapServers().replaceFirst(".*:", ""));
        }
    }

    @Test
    @DisplayName("who starts the same thing twice hears of the folder, and not of its ports")
    void shouldNameALockedDataFolderBeforePorts() throws Exception {
        // given
        try (EmbeddedBroker running = EmbeddedBroker.start(temp.resolve("data/kafka"), 0);
                ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String kafkaPort = running.bootstrapServers().replaceFirst(".*:", "");

            // when
            String message = failureOf(
                    "up",
                    "--port",
                    Integer.toString(taken.getLocalPort()),
                    "--kafka-port",
                    kafkaPort,
                    "--data",
                    "data",
                    "--workspace",
                    "workspace");

            // then
            assertThat(message).contains(running.dataFolder().toString(), "in use by another running broker");
        }
    }

    @Test
    @DisplayName("toolsets that cannot be topics")
    void shouldNameABadToolset() {
        try (ServiceProcess process =
                ServiceProcess.standalone(up("--toolsets", "orders,b/d")).start(temp)) {
            assertThat(process.awaitEnd(END_LIMIT)).as(process.output()).isEqualTo(2);
            assertThat(process.output())
                    .startsWith("millrace: --toolsets: expected names such as billing or billing:3")
                    .contains("b/d");
        }
        assertThat(temp.resolve("data")).doesNotExist();
    }

    @Test
    @DisplayName("a damaged data folder")
    void shouldNameADamagedDataFolder() throws Exception {
        // given
        EmbeddedBroker.start(temp.resolve("data/kafka"), 0).close();
        Files.writeString(temp.resolve("data/kafka/meta.properties"), "garbage");

        // when
        String message = failureOf(up("--kafka-port", "0"));

        // then
        assertThat(message).contains("data/kafka is damaged", "move it away");
    }

    @Test
    @DisplayName("a workspace that holds what is run")
    void shouldNameAWorkspaceThatHoldsWhatIsRun() {
        // when
        String message = failureOf("up", "--port", Integer.toString(FreePort.find()), "--workspace", ".");

        // then
        assertThat(message).contains("--workspace: expected a folder apart", "Choose a folder of its own");
        assertThat(temp.resolve("data")).doesNotExist();
    }

    @Test
    @DisplayName("a script that is not there")
    void shouldNameAMissingScript() {
        // when
        String message = failureOf(up("--kafka-port", "0", "--script", "nowhere.yaml"));

        // then
        assertThat(message).contains("--script: expected a readable file", "nowhere.yaml");
    }

    @Test
    @DisplayName("a script that is no script")
    void shouldNameABadScript() throws IOException {
        // given
        Files.writeString(temp.resolve("bad.yaml"), "rules: [[");

        // when
        String message = failureOf(up("--kafka-port", "0", "--script", "bad.yaml"));

        // then
        assertThat(message).contains("The services did not start", "bad.yaml", "line 1");
    }

    @Test
    @DisplayName("a model without a key")
    void shouldSayWhereTheKeyWasLookedFor() throws IOException {
        // given
        Files.createDirectories(temp.resolve("config"));
        Files.writeString(
                temp.resolve("config/application.properties"), "millrace.llm.models.main.provider=anthropic\n");

        // when
        String message = failureOf(up("--kafka-port", "0"));

        // then
        assertThat(message).contains("models.main", "a key in ANTHROPIC_API_KEY");
    }

    @Test
    @DisplayName("an address of other machines, and nothing said of who may call")
    void shouldNotBeOpenToOthersByMistake() {
        // when
        String message =
                failureOf(ServiceProcess.standalone(up("--kafka-port", "0")).env("QUARKUS_HTTP_HOST", "0.0.0.0"));

        // then
        assertThat(message).contains("millrace.gateway.auth: the gateway listens on 0.0.0.0", "key or jwt");
    }

    private String[] up(String... more) {
        String[] args = {"up", "--port", Integer.toString(FreePort.find()), "--data", "data", "--workspace", "workspace"
        };
        String[] all = new String[args.length + more.length];
        System.arraycopy(args, 0, all, 0, args.length);
        System.arraycopy(more, 0, all, args.length, more.length);
        return all;
    }

    /** The one line that the command wrote before it ended. */
    private String failureOf(String... args) {
        return failureOf(ServiceProcess.standalone(args));
    }

    private String failureOf(ServiceProcess.Builder command) {
        try (ServiceProcess process = command.start(temp)) {
            int exitCode = process.awaitEnd(END_LIMIT);
            String output = process.output();
            assertThat(exitCode).as(output).isEqualTo(1);
            assertThat(output).startsWith("millrace: ").hasLineCount(1);
            return output;
        }
    }
}
