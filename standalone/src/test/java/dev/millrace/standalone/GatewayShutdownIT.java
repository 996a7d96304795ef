package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Json;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.ServiceProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What clients of the gateway see when its process is told to stop. */
class GatewayShutdownIT {

    private static final int SIGTERM = 128 + 15;

    @TempDir
    Path folder;

    @Test
    @DisplayName("SIGTERM: streams end with a hint when to come back, what is in flight gets its answer")
    void shouldLetEverybodyGo() throws Exception {
        // given
        Path script = Files.writeString(folder.resolve("slow.yaml"), """
                rules:
                  - text: "done"
                    latencyMs: 60000
                """);
        int port = FreePort.find();
        HttpClient http =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        try (ServiceProcess up = ServiceProcess.standalone(
                        "up", "--port", Integer.toString(port), "--kafka-port", "0", "--script", script.toString())
                .start(folder)
                .awaitOutput("Millrace is ready", ServiceProcess.START_LIMIT)) {
            HttpResponse<InputStream> stream =
                    http.send(request(port, "/v1/stream").GET().build(), BodyHandlers.ofInputStream());
            CompletableFuture<HttpResponse<String>> inFlight = http.sendAsync(
                    request(port, "/v1/tasks?wait=60s")
                            .header("Content-Type", "application/json")
                            .POST(BodyPublishers.ofByteArray(Json.write(Map.of("text", "hello"))))
                            .build(),
                    BodyHandlers.ofString());
            BufferedReader lines = new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8));
            awaitLine(lines, "MODEL_CALL_REQUESTED");

            // when
            CompletableFuture<Integer> ended = CompletableFuture.supplyAsync(() -> up.stop(Duration.ofSeconds(40)));

            // then
            List<String> last = rest(lines);
            assertThat(last).contains("retry: 1000", ": shutting down");
            HttpResponse<String> answer = inFlight.get(20, TimeUnit.SECONDS);
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
            assertThat(ended.get(40, TimeUnit.SECONDS)).isEqualTo(SIGTERM);
        }
    }

    private static HttpRequest.Builder request(int port, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
    }

    private static void awaitLine(BufferedReader lines, String part) throws IOException {
        String line = lines.readLine();
        while (line != null && !line.contains(part)) {
            line = lines.readLine();
        }
        assertThat(line).isNotNull();
    }

    /** What comes until the stream ends; that it ends in order, and is not cut off, is part of the claim. */
    private static List<String> rest(BufferedReader lines) {
        try {
            return lines.lines()
                    .map(line -> line.replaceFirst("^(:|retry:) *", "$1 "))
                    .toList();
        } catch (UncheckedIOException e) {
            throw new AssertionError("the stream was cut off", e);
        }
    }
}
