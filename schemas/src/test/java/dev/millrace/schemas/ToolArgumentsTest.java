package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ToolArgumentsTest {

    private static final Map<String, @Nullable Object> REFUND = Map.of(
            "type",
            "object",
            "required",
            List.of("orderId"),
            "properties",
            Map.of(
                    "orderId", Map.of("type", "string", "pattern", "^X[0-9]+$"),
                    "amount", Map.of("type", "number", "minimum", 0)));

    @Test
    @DisplayName("the machine says of arguments what the worker says of them")
    void shouldSayTheSameSoon() {
        ToolArguments refund = ToolArguments.of(tool(REFUND));
        for (Map<String, @Nullable Object> arguments : List.<Map<String, @Nullable Object>>of(
                Map.of("orderId", "X1", "amount", 59.9),
                Map.of("orderId", "X1", "amount", "59.90"),
                Map.of("orderId", "Y1", "amount", -1),
                Map.of("amount", 1),
                Map.of())) {
            assertThat(soon(REFUND).problemsSoon(JsonObject.of(arguments))).isEqualTo(problems(refund, arguments));
        }
        assertThat(problems(refund, Map.of("orderId", "X1", "amount", "59.90")))
                .containsExactly("/amount string found, number expected");
        assertThat(problems(refund, Map.of("orderId", "X1"))).isEmpty();
    }

    @Test
    @DisplayName("ADR 0023: a schema whose references double at each level is given up soon, and counts as fitting")
    void shouldGiveUpWhatDoubles() {
        // given: 2^40 ways
        Map<String, Object> definitions = new LinkedHashMap<>();
        for (int level = 0; level < 40; level++) {
            Map<String, Object> next = Map.of("$ref", "#/$defs/l" + (level + 1));
            definitions.put("l" + level, Map.of("anyOf", List.of(next, next)));
        }
        definitions.put("l40", Map.of("type", "integer"));
        Map<String, @Nullable Object> schema =
                Map.of("type", "object", "$defs", definitions, "properties", Map.of("a", Map.of("$ref", "#/$defs/l0")));
        // then
        assertSoon(schema, Map.of("a", "no number"));
    }

    @Test
    @DisplayName("ADR 0023: a schema that refers to itself without end is given up soon")
    void shouldGiveUpWhatNeverEnds() {
        assertSoon(Map.of("$ref", "#"), Map.of("a", 1));
        assertSoon(
                Map.of("type", "object", "allOf", List.of(Map.of("$ref", "#"), Map.of("$ref", "#"))), Map.of("a", 1));
    }

    @Test
    @DisplayName("ADR 0023: patterns cost what they are large, and are given up with the rest")
    void shouldGiveUpLargePatterns() {
        Map<String, @Nullable Object> trap = Map.of("properties", Map.of("a", Map.of("pattern", "(?:a{0,100}){90}b")));
        assertSoon(trap, Map.of("a", "a".repeat(200_000)));

        Map<String, Object> properties = new LinkedHashMap<>();
        IntStream.range(0, 3_000).forEach(i -> properties.put("p" + i, Map.of("pattern", "(?:a{1000}){9}" + i)));
        long start = System.nanoTime();
        assertThat(ToolArguments.soon(tool(Map.of("properties", properties))).stream()
                        .flatMap(read -> read.problemsSoon(JsonObject.of(Map.of("p0", "b"))).stream()))
                .isEmpty();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    }

    @Test
    @DisplayName("a schema of the largest size is read, and none that is larger")
    void shouldHaveALimitOfSize() {
        int room =
                ToolArguments.MAX_SCHEMA - Json.writeText(Map.of("title", "")).length();
        assertThat(ToolArguments.soon(tool(Map.of("title", "x".repeat(room))))).isPresent();
        assertThat(ToolArguments.soon(tool(Map.of("title", "x".repeat(room + 1)))))
                .isEmpty();
    }

    @Test
    @DisplayName("long lists are checked as far as the steps go, and count as fitting beyond")
    void shouldHaveALimitOfSteps() {
        Map<String, @Nullable Object> lists =
                Map.of("properties", Map.of("list", Map.of("items", Map.of("type", "integer"))));
        List<Object> few = IntStream.range(0, 10_000)
                .<Object>mapToObj(i -> i == 9_999 ? "x" : i)
                .toList();
        List<Object> many = IntStream.range(0, 250_000)
                .<Object>mapToObj(i -> i == 0 ? "x" : i)
                .toList();

        assertThat(soon(lists).problemsSoon(JsonObject.of(Map.of("list", few)))).hasSize(1);
        assertThat(soon(lists).problemsSoon(JsonObject.of(Map.of("list", many))))
                .isEmpty();
        assertThat(problems(soon(lists), Map.of("list", many))).hasSize(1);
    }

    @Test
    @DisplayName("a schema that is none is left to the worker")
    void shouldLeaveWhatItCannotRead() {
        for (Map<String, @Nullable Object> none : List.<Map<String, @Nullable Object>>of(
                Map.of("properties", "none"),
                Map.of("$ref", "#/$defs/none"),
                Map.of("$ref", "nowhere:else"),
                Map.of("$schema", "https://example.invalid/other"),
                Map.of("pattern", "(?!x)", "type", "object"))) {
            assertThat(ToolArguments.soon(tool(none)).stream()
                            .flatMap(read -> read.problemsSoon(JsonObject.of(Map.of("a", 1))).stream()))
                    .as(none.toString())
                    .isEmpty();
        }
    }

    @Test
    @DisplayName("ADR 0023: nothing is fetched because a stranger's schema refers to it")
    void shouldFetchNothing() throws Exception {
        // given
        AtomicInteger asked = new AtomicInteger();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            asked.incrementAndGet();
            byte[] schema = "{\"type\":\"string\"}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, schema.length);
            exchange.getResponseBody().write(schema);
            exchange.close();
        });
        server.start();
        try {
            String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/schema.json";
            // when
            for (String keyword : List.of("$ref", "$dynamicRef", "$schema")) {
                ToolArguments.soon(tool(Map.of(keyword, url)))
                        .ifPresent(read -> assertThat(read.problemsSoon(JsonObject.of(Map.of("a", 1))))
                                .isEmpty());
            }
            // then
            assertThat(asked).hasValue(0);
        } finally {
            server.stop(0);
        }
    }

    private static void assertSoon(Map<String, @Nullable Object> schema, Map<String, @Nullable Object> arguments) {
        long start = System.nanoTime();
        assertThat(ToolArguments.soon(tool(schema)).stream()
                        .flatMap(read -> read.problemsSoon(JsonObject.of(arguments)).stream()))
                .isEmpty();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    }

    private static ToolArguments soon(Map<String, @Nullable Object> schema) {
        return ToolArguments.soon(tool(schema)).orElseThrow();
    }

    private static ToolDefinition tool(Map<String, @Nullable Object> schema) {
        return new ToolDefinition(
                "refund", "Pays back.", JsonObject.of(schema), "tool", 1_000, ToolDefinition.SideEffects.DESTRUCTIVE);
    }

    private static List<String> problems(ToolArguments tool, Map<String, @Nullable Object> arguments) {
        return tool.problems(JsonObject.of(arguments), Long.MAX_VALUE).orElseThrow();
    }
}
