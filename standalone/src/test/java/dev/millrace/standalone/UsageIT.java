package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.StubModelServer.Answer;
import dev.millrace.testing.StubModelServer.ToolCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bill: what Millrace says it used is what the provider says. */
class UsageIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final List<String> KINDS = List.of("plain", "tool", "broken", "garbled", "filtered", "ask");
    private static final int TASKS = 36;

    @TempDir
    Path folder;

    private final Map<String, LongAdder> billed = new LinkedHashMap<>();
    private final int port = FreePort.find();
    private final HttpApi api = HttpApi.onPort(port);

    @Test
    @DisplayName(
            "the sums of GET /v1/usage are exactly what the stub counted, over a restart and a lost" + " projection")
    void shouldCountWhatTheProviderCounts() throws Exception {
        try (StubModelServer model = StubModelServer.start(this::answer)) {
            List<String> tasks = new ArrayList<>();
            try (ServiceProcess up = up(model)) {
                // given: many tasks, some of them still at work when the service stops
                IntStream.range(0, TASKS).forEach(i -> tasks.add(submit(i)));
                String cut = api.post("/v1/tasks", Map.of("text", "slow", "sessionId", "slow"))
                        .json()
                        .path("taskId")
                        .asText();
                await().atMost(LIMIT)
                        .until(() -> model.requests().stream()
                                .anyMatch(request -> request.last("user").equals("slow")));
                api.post("/v1/tasks/" + cut + "/cancel", Map.of());
                await().atMost(LIMIT).until(() -> model.abandoned() == 1);
                up.stop(LIMIT);
            }

            // when
            try (ServiceProcess up = up(model)) {
                tasks.forEach(this::awaitRest);
                awaitSums();
                JsonNode before = usage("");
                assertThat(before.path("total").path("abandonedCalls").asLong()).isEqualTo(1);
                assertThat(before.path("total").path("failedCalls").asLong()).isEqualTo(TASKS / KINDS.size());
                assertThat(before.path("total").path("costMicros").asLong())
                        .as("1 dollar per million tokens of either kind")
                        .isEqualTo(billed("prompt_tokens") + billed("completion_tokens"));
                assertSameTotals(before);
                assertThat(usage("?groupBy=session").path("groups"))
                        .as("five sessions, the slow one and none")
                        .hasSize(7);
                assertThat(api.get("/v1/usage?groupBy=nonsense").status()).isEqualTo(400);
                assertThat(CommandRun.of("usage", "--url", "http://127.0.0.1:" + port)
                                .out())
                        .contains("general", String.valueOf(billed("prompt_tokens")));
                up.kill();
            }
            delete(folder.resolve("data/projection"));

            // then
            try (ServiceProcess up = up(model)) {
                assertThat(up.isAlive()).isTrue();
                awaitSums();
            }
        }
    }

    @Test
    @DisplayName(
            "kill -9 under load: each call is in the sums once; what the provider charged for a reply that was lost with"
                    + " its process is in none, and is counted as such")
    void shouldCountEachCallOnceAfterAKill() throws Exception {
        Map<String, List<Long>> books = new ConcurrentHashMap<>();
        try (StubModelServer model = StubModelServer.start(request -> {
            long input = 1_000L + request.number();
            books.computeIfAbsent(request.last("user"), text -> new CopyOnWriteArrayList<>())
                    .add(input);
            return spoken(input).after(Duration.ofMillis(500));
        })) {
            List<String> tasks = new ArrayList<>();
            try (ServiceProcess up = up(model)) {
                // given: some calls are done, some are out, some have not been made
                IntStream.range(0, TASKS).forEach(i -> tasks.add(api.submit("task " + i)));
                await().atMost(LIMIT)
                        .pollInterval(Duration.ofMillis(20))
                        .until(() ->
                                model.calls() >= TASKS / 2 && tasks.stream().anyMatch(this::isCompleted));

                // when
                assertThat(model.calls())
                        .as("calls that were made when it dies")
                        .isLessThan(TASKS);
                up.kill();
            }

            // then
            try (ServiceProcess up = up(model)) {
                tasks.forEach(task -> await().atMost(LIMIT).until(() -> isCompleted(task)));
                long lost = books.values().stream()
                        .mapToLong(charged -> charged.size() - 1)
                        .sum();
                assertThat(lost).as("replies that were lost").isPositive();
                await().atMost(LIMIT).untilAsserted(() -> {
                    JsonNode report = usage("?groupBy=task");
                    JsonNode total = report.path("total");
                    assertThat(total.path("calls").asLong()).isEqualTo(TASKS);
                    assertThat(total.path("outputTokens").asLong()).isEqualTo(TASKS);
                    Map<String, JsonNode> counted = new HashMap<>();
                    report.path("groups")
                            .forEach(group -> counted.put(group.path("taskId").asText(), group));
                    assertThat(counted).containsOnlyKeys(tasks);
                    for (int i = 0; i < TASKS; i++) {
                        JsonNode sums = Objects.requireNonNull(counted.get(tasks.get(i)));
                        List<Long> charged = Objects.requireNonNull(books.get("task " + i));
                        // of two that were charged for one call, the one whose reply was lost is not in the sums
                        assertThat(charged)
                                .as("task %d: %s", i, sums)
                                .hasSizeBetween(1, 2)
                                .contains(sums.path("inputTokens").asLong());
                        // a call that waited for its turn may have been asked, as far as anybody knows
                        assertThat(sums.path("uncountedRequests").asInt())
                                .as("task %d: %s", i, sums)
                                .isBetween(charged.size() - 1, 1);
                        assertThat(sums.path("requests").asInt())
                                .isEqualTo(1 + sums.path("uncountedRequests").asInt());
                    }
                    assertThat(total.path("inputTokens").asLong())
                            .isEqualTo(counted.values().stream()
                                    .mapToLong(sums -> sums.path("inputTokens").asLong())
                                    .sum());
                });
                assertThat(up.isAlive()).isTrue();
            }
        }
    }

    private boolean isCompleted(String taskId) {
        return state(taskId).equals("completed");
    }

    private static Answer spoken(long inputTokens) {
        return Answer.json(Map.of(
                "id",
                "chatcmpl-1",
                "object",
                "chat.completion",
                "created",
                1,
                "model",
                "stub-model",
                "choices",
                List.of(Map.of(
                        "index",
                        0,
                        "message",
                        Map.of("role", "assistant", "content", "done"),
                        "finish_reason",
                        "stop")),
                "usage",
                Map.of("prompt_tokens", inputTokens, "completion_tokens", 1, "total_tokens", inputTokens + 1)));
    }

    private void awaitSums() {
        await().atMost(LIMIT).untilAsserted(() -> {
            JsonNode total = usage("").path("total");
            assertThat(total.path("inputTokens").asLong()).isEqualTo(billed("prompt_tokens"));
            assertThat(total.path("outputTokens").asLong()).isEqualTo(billed("completion_tokens"));
            assertThat(total.path("cachedInputTokens").asLong()).isEqualTo(billed("cached_tokens"));
            assertThat(total.path("reasoningTokens").asLong()).isEqualTo(billed("reasoning_tokens"));
        });
    }

    /** Whatever is told apart, it is the same in the end. */
    private void assertSameTotals(JsonNode whole) {
        for (String dimensions : List.of("agent,model", "session", "task", "namespace", "hour")) {
            JsonNode report = usage("?namespace=*&groupBy=" + dimensions);
            assertThat(report.path("total")).as(dimensions).isEqualTo(whole.path("total"));
        }
    }

    private JsonNode usage(String query) {
        HttpApi.Answer answer = api.get("/v1/usage" + query);
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        return answer.json();
    }

    private String submit(int number) {
        String kind = KINDS.get(number % KINDS.size());
        String text = kind + ' ' + number;
        // the next message of a session would be the answer to its question
        return api.post(
                        "/v1/tasks",
                        kind.equals("ask") ? Map.of("text", text) : Map.of("text", text, "sessionId", "s" + number % 5))
                .json()
                .path("taskId")
                .asText();
    }

    /** A task that asks is answered, so that its session goes on. */
    private void awaitRest(String taskId) {
        String state = await().atMost(LIMIT)
                .until(
                        () -> state(taskId),
                        now -> List.of("completed", "failed", "suspended").contains(now));
        if (state.equals("suspended")) {
            api.post("/v1/tasks/" + taskId + "/resume", Map.of("newInput", "yes"));
            await().atMost(LIMIT).until(() -> state(taskId).equals("completed"));
        }
    }

    private String state(String taskId) {
        return api.get("/v1/tasks/" + taskId).json().path("state").asText();
    }

    private Answer answer(StubModelServer.Request request) {
        List<String> said = request.messages().stream()
                .filter(message -> "user".equals(message.get("role")))
                .map(message -> String.valueOf(message.get("content")))
                .toList();
        String kind = said.getFirst().replaceFirst(" .*", "");
        boolean first = request.messages().stream().noneMatch(message -> "assistant".equals(message.get("role")));
        boolean again = billed(said.getFirst()) > 0;
        count(said.getFirst(), 1);
        if (kind.equals("slow")) {
            return Answer.text("nobody hears this").after(LIMIT);
        }
        if (kind.equals("broken") && !again) {
            return Answer.error(500, "server_error", "try again");
        }
        if (kind.equals("garbled") && !again) {
            return garbled(Map.of("choices", List.of(), "usage", counted(request), "model", "stub-model"), request);
        }
        if (kind.equals("filtered")) {
            return answer(request, "content_filter", Map.of("role", "assistant", "content", ""));
        }
        if (kind.equals("tool") && first) {
            return call(request, new ToolCall("call_1", "current_time", "{}"));
        }
        if (kind.equals("ask") && first) {
            return call(request, new ToolCall("call_1", "ask_user", "{\"question\":\"sure?\"}"));
        }
        return answer(request, "stop", Map.of("role", "assistant", "content", "done"));
    }

    /** No reply, but a bill. */
    private static Answer garbled(Map<String, @Nullable Object> json, StubModelServer.Request request) {
        return Boolean.TRUE.equals(request.body().get("stream"))
                ? Answer.events(Json.writeText(json), "[DONE]")
                : Answer.json(json);
    }

    private Answer call(StubModelServer.Request request, ToolCall call) {
        Map<String, @Nullable Object> message = new LinkedHashMap<>();
        message.put("role", "assistant");
        message.put("content", null);
        message.put(
                "tool_calls",
                List.of(Map.of(
                        "id",
                        call.id(),
                        "type",
                        "function",
                        "function",
                        Map.of("name", call.tool(), "arguments", call.arguments()))));
        return answer(request, "tool_calls", message);
    }

    private Answer answer(StubModelServer.Request request, String finish, Map<String, @Nullable Object> message) {
        return Answer.json(Map.of(
                "id",
                "chatcmpl-1",
                "object",
                "chat.completion",
                "created",
                1,
                "model",
                "stub-model",
                "choices",
                List.of(Map.of("index", 0, "message", message, "finish_reason", finish)),
                "usage",
                counted(request)));
    }

    /** The provider's own books. */
    private Map<String, @Nullable Object> counted(StubModelServer.Request request) {
        long input = 100L + 7L * request.number();
        long output = 3L + request.number() % 11;
        long cached = 10L * (request.number() % 3);
        long reasoning = request.number() % 2;
        count("prompt_tokens", input);
        count("completion_tokens", output);
        count("cached_tokens", cached);
        count("reasoning_tokens", reasoning);
        return Map.of(
                "prompt_tokens",
                input,
                "completion_tokens",
                output,
                "total_tokens",
                input + output,
                "prompt_tokens_details",
                Map.of("cached_tokens", cached),
                "completion_tokens_details",
                Map.of("reasoning_tokens", reasoning));
    }

    private synchronized void count(String what, long more) {
        billed.computeIfAbsent(what, name -> new LongAdder()).add(more);
    }

    private synchronized long billed(String what) {
        LongAdder sum = billed.get(what);
        return sum == null ? 0 : sum.sum();
    }

    private ServiceProcess up(StubModelServer model) {
        return ServiceProcess.standalone("up", "--port", String.valueOf(port), "--kafka-port", "0")
                .jvm("-Dmillrace.llm.models.default.provider=openai")
                .jvm("-Dmillrace.llm.models.default.base-url=" + model.baseUrl())
                .jvm("-Dmillrace.llm.models.default.model=stub-model")
                .jvm("-Dmillrace.llm.models.default.price.input=1")
                .jvm("-Dmillrace.llm.models.default.price.output=1")
                .jvm("-Dmillrace.llm.retry-backoff=50ms")
                .jvm("-Dmillrace.llm.max-concurrent-calls=6")
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> {
                try {
                    Files.delete(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
