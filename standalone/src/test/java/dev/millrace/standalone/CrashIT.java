package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TransactionListing;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is promised when everything dies at once: broker, machine, thinker and tools are one process here. */
class CrashIT {

    private static final int TASKS = 24;
    private static final int CLIENTS = 6;
    private static final int ACCEPTED_BEFORE = 60;
    private static final Duration LIMIT = Duration.ofMinutes(2);

    /** Kafka Streams calls its transactions after the application. */
    private static final Pattern MACHINE = Pattern.compile(".*agent.*");

    @TempDir
    Path folder;

    private static List<String> transactions(int kafkaPort) throws IOException {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + kafkaPort))) {
            return admin.listTransactions().all().get().stream()
                    .map(TransactionListing::transactionalId)
                    .toList();
        } catch (InterruptedException | ExecutionException e) {
            throw new IOException("the broker does not tell its transactions", e);
        }
    }

    @Test
    @DisplayName(
            "kill -9 in the middle of 24 tasks: all complete, no event twice, at most one model call repeated per task")
    void shouldFinishEverythingAfterAKill() throws IOException {
        Path calls = folder.resolve("calls.log");
        Path script = folder.resolve("slow.yaml");
        Files.writeString(script, """
                latencyMs: 400
                callLog: %s
                rules:
                  - steps:
                      - calls:
                          - tool: list_files
                            arguments: { path: "." }
                      - text: "Found: {{result.list_files}}"
                """.formatted(calls.toAbsolutePath()));
        int port = FreePort.find();
        int kafkaPort = FreePort.find();
        List<String> taskIds = new ArrayList<>();

        // given: tasks, about half of them done
        try (ServiceProcess up = up(port, kafkaPort, script)) {
            HttpApi api = HttpApi.onPort(port);
            for (int i = 0; i < TASKS; i++) {
                taskIds.add(api.submit("task " + i));
            }
            Awaitility.await().atMost(LIMIT).until(() -> countCalls(calls) >= TASKS);
            assertThat(transactions(kafkaPort)).as("who writes in transactions").anyMatch(MACHINE.asMatchPredicate());

            // when
            up.kill();
        }
        Map<String, Long> before = callsById(calls);

        // then
        try (ServiceProcess up = up(port, kafkaPort, script)) {
            HttpApi api = HttpApi.onPort(port);
            for (String taskId : taskIds) {
                assertThat(api.awaitEnd(taskId, LIMIT).path("state").asText()).isEqualTo("completed");
                assertThat(api.events(taskId))
                        .extracting(event -> event.path("id").asText())
                        .doesNotHaveDuplicates();
            }
            assertThat(up.isAlive()).isTrue();
            assertThat(before).as("calls before the kill").isNotEmpty();
            Map<String, Long> perTask = callsById(calls).entrySet().stream()
                    .collect(Collectors.groupingBy(
                            call -> call.getKey().substring(0, call.getKey().indexOf('/')),
                            Collectors.summingLong(call -> call.getValue() - 1)));
            assertThat(perTask.values())
                    .as("repeated calls per task")
                    .allSatisfy(repeated -> assertThat(repeated).isLessThanOrEqualTo(1));
            assertThat(callsById(calls)).as("two calls per task").hasSize(2 * TASKS);
        }
    }

    @Test
    @DisplayName("kill -9 while tasks are being accepted: each one that was answered with 202 is there and completes")
    void shouldKeepWhatItAcceptedToTheLastMoment() throws Exception {
        Path script = folder.resolve("quick.yaml");
        Files.writeString(script, """
                rules:
                  - steps:
                      - text: done
                """);
        int port = FreePort.find();
        int kafkaPort = FreePort.find();
        Set<String> accepted = ConcurrentHashMap.newKeySet();
        AtomicInteger unanswered = new AtomicInteger();
        int before;

        // given: several clients that go on until nobody answers any more
        try (ServiceProcess up = up(port, kafkaPort, script);
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            HttpApi api = HttpApi.onPort(port);
            accepted.add(api.submit("the first"));
            for (int i = 0; i < CLIENTS; i++) {
                clients.execute(() -> {
                    try {
                        while (true) {
                            accepted.add(api.submit("one more"));
                        }
                    } catch (UncheckedIOException e) {
                        unanswered.incrementAndGet();
                    }
                });
            }
            Awaitility.await()
                    .atMost(LIMIT)
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> accepted.size() >= ACCEPTED_BEFORE);

            // when
            before = accepted.size();
            up.kill();
        }

        // then
        assertThat(unanswered).as("clients in the middle of a request").hasValue(CLIENTS);
        assertThat(accepted).hasSizeGreaterThanOrEqualTo(before);
        try (ServiceProcess up = up(port, kafkaPort, script)) {
            HttpApi api = HttpApi.onPort(port);
            assertThat(accepted)
                    .allSatisfy(taskId -> assertThat(
                                    api.awaitEnd(taskId, LIMIT).path("state").asText())
                            .isEqualTo("completed"));
            assertThat(up.isAlive()).isTrue();
        }
    }

    @Test
    @DisplayName("kill -9 in the middle of a streamed reply: whoever watched hears that it begins anew, puts together"
            + " what the journal says, and the usage tells of two attempts")
    void shouldTellWatchersThatACallIsMadeAgain() throws IOException, InterruptedException {
        Path script = folder.resolve("spoken.yaml");
        String answer = IntStream.range(0, 60).mapToObj(i -> "word" + i).collect(Collectors.joining(" "));
        Files.writeString(script, """
                stream: { chunkChars: 5, chunkMs: 60 }
                rules:
                  - steps:
                      - text: "%s"
                """.formatted(answer));
        int port = FreePort.find();
        int kafkaPort = FreePort.find();
        LiveReply watched = new LiveReply();
        String taskId;

        // given: somebody has heard a part of the reply
        try (ServiceProcess up = up(port, kafkaPort, script)) {
            taskId = HttpApi.onPort(port).submit("speak");
            watched.watch(port, taskId, () -> watched.pieces >= 5);
            assertThat(answer).startsWith(watched.text()).isNotEqualTo(watched.text());

            // when
            up.kill();
        }

        // then
        try (ServiceProcess up = up(port, kafkaPort, script)) {
            watched.watch(port, taskId, () -> watched.reply != null);
            assertThat(up.isAlive()).isTrue();
            JsonNode reply = Objects.requireNonNull(watched.reply);
            assertThat(watched.restarts).containsExactly("takeover");
            assertThat(watched.text())
                    .isEqualTo(answer)
                    .isEqualTo(reply.path("response").asText());
            assertThat(reply.path("usage").path("attempts").asInt()).isEqualTo(2);
            assertThat(reply.path("usage").path("uncountedAttempts").asInt()).isEqualTo(1);
        }
    }

    /** Puts a reply together from a task's stream, as docs/streaming.md says. */
    private static final class LiveReply {
        final List<String> restarts = new ArrayList<>();
        int pieces;

        @Nullable
        JsonNode reply;

        private final StringBuilder text = new StringBuilder();
        private @Nullable String lastId;

        String text() {
            return text.toString();
        }

        /** Listens on from where it was, until it has heard enough. */
        void watch(int port, String taskId, BooleanSupplier enough) throws IOException, InterruptedException {
            HttpRequest.Builder request = HttpRequest.newBuilder(
                            URI.create("http://127.0.0.1:" + port + "/v1/tasks/" + taskId + "/stream?tokens=stream"))
                    .timeout(LIMIT);
            if (lastId != null) {
                request.header("Last-Event-ID", lastId);
            }
            try (HttpClient http = HttpClient.newHttpClient();
                    Stream<String> lines =
                            http.send(request.build(), BodyHandlers.ofLines()).body()) {
                String event = "";
                for (Iterator<String> next = lines.iterator(); !enough.getAsBoolean() && next.hasNext(); ) {
                    String line = next.next();
                    if (line.startsWith("id:")) {
                        lastId = line.substring(3).strip();
                    } else if (line.startsWith("event:")) {
                        event = line.substring(6).strip();
                    } else if (line.startsWith("data:")) {
                        take(event, Json.MAPPER.readTree(line.substring(5)));
                    }
                }
                http.shutdownNow();
            }
            assertThat(enough.getAsBoolean())
                    .as("heard enough before the stream ended")
                    .isTrue();
        }

        private void take(String event, JsonNode data) {
            JsonNode payload = data.has("payload") ? data.path("payload") : data;
            switch (event) {
                case "stream.start" -> text.setLength(0);
                case "stream.restart" -> {
                    text.setLength(0);
                    restarts.add(payload.path("reason").asText());
                }
                case "stream.text" -> {
                    text.append(payload.path("delta").asText());
                    pieces++;
                }
                case "REASON_DONE" -> reply = payload;
                default -> {}
            }
        }
    }

    private ServiceProcess up(int port, int kafkaPort, Path script) {
        return ServiceProcess.standalone(
                        "up",
                        "--port",
                        String.valueOf(port),
                        "--kafka-port",
                        String.valueOf(kafkaPort),
                        "--script",
                        script.toString())
                .env("MILLRACE_LLM_MAX_CONCURRENT_CALLS", "8")
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
    }

    private static int countCalls(Path log) throws IOException {
        return Files.exists(log) ? Files.readAllLines(log).size() : 0;
    }

    /** How often each call was made. */
    private static Map<String, Long> callsById(Path log) throws IOException {
        return Files.readAllLines(log).stream()
                .map(line -> line.substring(line.indexOf(' ') + 1))
                .collect(Collectors.groupingBy(callId -> callId, Collectors.counting()));
    }
}
