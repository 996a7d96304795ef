package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.standalone.cli.ExitCodes;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code up --token}: the whole of Millrace behind a login. */
class LoginIT {

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Pattern KEY = Pattern.compile("MILLRACE_TOKEN=(mlr_\\S+)");

    @TempDir
    private Path folder = Path.of("");

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    @DisplayName(
            "nobody gets in without the key and the password of the data folder, by whatever way, and everything works with them")
    void shouldAskForAKey() throws Exception {
        int port = FreePort.find();
        int kafkaPort = FreePort.find();
        String url = "http://127.0.0.1:" + port;
        try (ServiceProcess up = ServiceProcess.standalone(
                        "up", "--token", "--port", String.valueOf(port), "--kafka-port", String.valueOf(kafkaPort))
                .start(folder)
                .awaitReady(URI.create(url + "/q/health/ready"))) {
            // given
            Matcher shown = KEY.matcher(up.output());
            assertThat(shown.find()).as(up.output()).isTrue();
            String key = shown.group(1);

            // then: no way in without
            for (String path : List.of("/v1/tasks", "/v1/stream", "/sessions", "/v1/models")) {
                assertThat(status(url + path)).as(path).isEqualTo(401);
            }
            for (String path : List.of(
                    "/internal/tasks",
                    "/internal/machine",
                    "/internal/../internal/tasks",
                    "//internal/tasks",
                    "/%69nternal/tasks",
                    "/internal/%74asks",
                    "/internal/tasks/",
                    "/internal;x=y/tasks",
                    "/v1/..;/internal/tasks")) {
                assertThat(status(url + path)).as(path).isIn(400, 403, 404);
            }
            assertThat(CommandRun.of("ask", "hello", "--url", url).err()).contains("MILLRACE_TOKEN");

            assertThatThrownBy(() -> topics(kafkaPort, Map.of())).hasCauseInstanceOf(TimeoutException.class);
            assertThatThrownBy(() -> topics(kafkaPort, login("guess")))
                    .hasCauseInstanceOf(SaslAuthenticationException.class);

            // and: Kafka with the password that only its owner reads
            Path password = folder.resolve("data/kafka-password");
            assertThat(topics(kafkaPort, login(Files.readString(password)))).contains("millrace.journal");
            for (String kept : List.of("data/kafka-password", "data/token", "data/keys.json", "data/reply-secret")) {
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(kept))))
                        .as(kept)
                        .isEqualTo("rw-------");
            }

            // and: commands beside the data find the key, and clients elsewhere do not
            assertThat(beside("tasks", url)).isEqualTo(ExitCodes.DONE);

            // and: everything with it
            CommandRun ask = CommandRun.of("ask", "What time is it?", "--url", url, "--token", key);
            assertThat(ask.exitCode()).as(ask.err()).isEqualTo(ExitCodes.DONE);
            assertThat(CommandRun.of("tasks", "--url", url, "--token", key).out())
                    .contains("completed");

            // and: a second key for less, which counts without a restart until it is revoked
            String keys = folder.resolve("data/keys.json").toString();
            CommandRun made = CommandRun.of("keys", "create", "reader", "--grant", "default:read", "--file", keys);
            String reader = made.out().strip();
            awaitExit(url, reader, ExitCodes.DONE);
            assertThat(CommandRun.of("ask", "hello", "--url", url, "--token", reader)
                            .err())
                    .contains("reader is not granted default:write");
            Matcher id = Pattern.compile("Key (\\S+) of").matcher(made.err());
            assertThat(id.find()).isTrue();
            assertThat(CommandRun.of("keys", "revoke", id.group(1), "--file", keys)
                            .exitCode())
                    .isZero();
            awaitExit(url, reader, ExitCodes.FAILED);
        }
    }

    /** Waits until a key counts, or not any more: the gateway looks every second. */
    private static void awaitExit(String url, String key, int wanted) {
        await().atMost(LIMIT)
                .until(() ->
                        CommandRun.of("tasks", "--url", url, "--token", key).exitCode() == wanted);
    }

    /** The exit code of a command that is called where the data folder is. */
    private int beside(String command, String url) {
        try (ServiceProcess process =
                ServiceProcess.standalone(command, "--url", url).start(folder)) {
            return process.awaitEnd(LIMIT.multipliedBy(3));
        }
    }

    private static Map<String, Object> login(String password) {
        return Map.of(
                "security.protocol",
                "SASL_PLAINTEXT",
                "sasl.mechanism",
                "PLAIN",
                "sasl.jaas.config",
                "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"owner\" password=\"%s\";"
                        .formatted(password));
    }

    private static Set<String> topics(int kafkaPort, Map<String, Object> login) throws Exception {
        Map<String, Object> settings = new HashMap<>(login);
        settings.put("bootstrap.servers", "127.0.0.1:" + kafkaPort);
        settings.put("default.api.timeout.ms", 4000);
        settings.put("request.timeout.ms", 3000);
        try (Admin admin = Admin.create(settings)) {
            return admin.listTopics().names().get();
        }
    }

    private int status(String url) throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }
}
