package dev.millrace.tools.java;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolMemoryId;
import dev.langchain4j.model.output.structured.Description;
import dev.millrace.requests.Reply;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallContext;
import dev.millrace.tools.Calls;
import dev.millrace.tools.ToolExecutor;
import dev.millrace.tools.ToolRegistry;
import dev.millrace.tools.secrets.Secrets;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class JavaToolsTest {

    private static final ToolContext CONTEXT = new CallContext("task-1", "session-1", "acme", "task-1/1/0");

    enum Color {
        RED,
        @JsonProperty("dark-green")
        GREEN
    }

    @Description("Where something goes.")
    record Address(@Description("Street and number.") String street, Optional<String> floor, List<String> tags) {}

    record Tree(String name, List<Tree> children) {}

    static class Tank {
        public int liters;

        @JsonProperty(required = true)
        public String fuel = "";
    }

    record Found(String name, LocalDate since, Optional<Color> color, BigDecimal price) {}

    /** What a user may write. */
    public static class Shop {

        @Tool("Sends something to somebody.")
        @ToolTerms(timeoutMs = 5_000, sideEffects = ToolDefinition.SideEffects.IDEMPOTENT, approval = true)
        public String ship(
                @P("Who gets it.") Address to,
                @P(value = "How many.", required = false) @Nullable Integer count,
                Color color,
                @P(value = "How.", defaultValue = "post") String way,
                @P(value = "When.", defaultValue = "3") int days,
                ToolContext context) {
            return to.street() + "|" + to.floor().orElse("-") + "|" + to.tags() + "|" + count + "|" + color + "|" + way
                    + "|" + days + "|" + context.callId() + "|" + context.namespace();
        }

        @Tool(
                name = "find_all",
                value = {"Finds", "things."})
        Found find(Set<UUID> ids, Map<String, Double> weights, @Nullable Tank tank, Instant at, Duration within) {
            return new Found(
                    ids.size() + "/" + weights + "/" + (tank == null ? "" : tank.fuel),
                    LocalDate.of(2026, 11, 22),
                    Optional.of(Color.GREEN),
                    new BigDecimal("1.50"));
        }

        @Tool
        int count(Tree tree) {
            return 1 + tree.children().stream().mapToInt(this::count).sum();
        }

        @Tool
        void forget(Optional<String> what) {
            if (what.isPresent()) {
                throw new IllegalStateException("I cannot forget " + what.get());
            }
        }

        @Tool
        CompletionStage<List<String>> later() {
            return CompletableFuture.supplyAsync(() -> List.of("a", "b"));
        }

        @Tool
        String refuse() throws ToolException {
            throw new ToolException("sold_out", "There is none left.");
        }

        public String noTool() {
            return "";
        }
    }

    private final Shop shop = new Shop();
    private final ToolRegistry tools = new ToolRegistry(JavaTools.of(Shop.class, () -> shop));

    @Test
    void shouldTakeNameDescriptionAndTerms() {
        assertThat(tools.definitions())
                .extracting(ToolDefinition::name)
                .containsExactly("count", "find_all", "forget", "later", "refuse", "ship");
        ToolDefinition ship = definition("ship");
        assertThat(ship.description()).isEqualTo("Sends something to somebody.");
        assertThat(ship.timeoutMs()).isEqualTo(5_000);
        assertThat(ship.sideEffects()).isEqualTo(ToolDefinition.SideEffects.IDEMPOTENT);
        assertThat(ship.approval()).isEqualTo(new ToolDefinition.Approval.Always());
        assertThat(definition("find_all").description()).isEqualTo("Finds\nthings.");
        assertThat(definition("count").sideEffects()).isEqualTo(ToolDefinition.SideEffects.DESTRUCTIVE);
        assertThat(definition("count").approval()).isEqualTo(new ToolDefinition.Approval.Never());
    }

    @Test
    @DisplayName(
            "records, enums, lists, optional ones, defaults and descriptions are in the schema; ToolContext is not")
    void shouldDeriveTheSchema() throws JsonProcessingException {
        assertThat(schema("ship")).isEqualTo(Json.MAPPER.readTree("""
            {"type":"object",
             "properties":{
               "to":{"type":"object","description":"Who gets it.",
                 "properties":{
                   "street":{"type":"string","description":"Street and number."},
                   "floor":{"type":"string"},
                   "tags":{"type":"array","items":{"type":"string"}}},
                 "required":["street","tags"],"additionalProperties":false},
               "count":{"type":"integer","minimum":-2147483648,"maximum":2147483647,"description":"How many."},
               "color":{"type":"string","enum":["RED","dark-green"]},
               "way":{"type":"string","description":"How.","default":"post"},
               "days":{"type":"integer","minimum":-2147483648,"maximum":2147483647,"description":"When.","default":3}},
             "required":["to","color"],"additionalProperties":false}\
            """));
        assertThat(schema("find_all").at("/properties")).isEqualTo(Json.MAPPER.readTree("""
            {"ids":{"type":"array","items":{"type":"string","format":"uuid"},"uniqueItems":true},
             "weights":{"type":"object","additionalProperties":{"type":"number"}},
             "tank":{"type":"object",
               "properties":{"liters":{"type":"integer","minimum":-2147483648,"maximum":2147483647},
                 "fuel":{"type":"string"}},
               "required":["fuel"],"additionalProperties":false},
             "at":{"type":"string","format":"date-time"},
             "within":{"type":"string","format":"duration","description":"ISO 8601, such as PT1H30M"}}\
            """));
        assertThat(schema("count").at("/$defs")).hasSize(1);
        assertThat(schema("count").at("/properties/tree/$ref").asText()).startsWith("#/$defs/");
    }

    @Test
    void shouldFillTheParameters() throws Exception {
        assertThat(call("ship", "{\"to\":{\"street\":\"Mill 1\",\"tags\":[\"a\"]},\"color\":\"dark-green\"}"))
                .isEqualTo("Mill 1|-|[a]|null|GREEN|post|3|task-1/1/0|acme");
        assertThat(call(
                        "ship",
                        "{\"to\":{\"street\":\"Mill 1\",\"floor\":\"2\",\"tags\":[]},\"count\":7,\"color\":\"RED\","
                                + "\"way\":\"train\",\"days\":1}"))
                .isEqualTo("Mill 1|2|[]|7|RED|train|1|task-1/1/0|acme");
        assertThat(call("count", "{\"tree\":{\"name\":\"a\",\"children\":[{\"name\":\"b\",\"children\":[]}]}}"))
                .isEqualTo(2);
    }

    @Test
    void shouldGiveResultsAsJson() throws Exception {
        assertThat(call(
                        "find_all",
                        "{\"ids\":[\"0190163d-8694-739b-aea5-966c26f8ad91\"],\"weights\":{\"x\":1.5},"
                                + "\"tank\":{\"fuel\":\"gas\"},\"at\":\"2026-11-22T05:00:00Z\",\"within\":\"PT1H\"}"))
                .isEqualTo(Map.of(
                        "name",
                        "1/{x=1.5}/gas",
                        "since",
                        "2026-11-22",
                        "color",
                        "dark-green",
                        "price",
                        new BigDecimal("1.50")));
        assertThat(call("forget", "{}")).isEqualTo("done");
        assertThat(call("later", "{}")).isEqualTo(List.of("a", "b"));
    }

    @Test
    void shouldMakeAnExceptionAResult() {
        assertThatThrownBy(() -> call("forget", "{\"what\":\"it\"}"))
                .isInstanceOf(ToolException.class)
                .hasMessage("EXECUTION ERROR: I cannot forget it")
                .extracting(e -> ((ToolException) e).code())
                .isEqualTo("execution_error");
        assertThatThrownBy(() -> call("refuse", "{}"))
                .hasMessage("There is none left.")
                .extracting(e -> ((ToolException) e).code())
                .isEqualTo("sold_out");
    }

    @Test
    @DisplayName("the stack trace in the log tells of which call of which task it is")
    void shouldLogAnExceptionWithTheIdsOfItsCall() throws InterruptedException {
        assertThat(logged(Secrets.NONE)).singleElement().satisfies(one -> {
            assertThat(one.getMessage()).contains("taskId=task-1", "callId=call-1", "toolName=forget");
            assertThat(one.getThrown()).hasMessage("I cannot forget it");
        });
    }

    @Test
    @DisplayName("a secret in the message of an exception is not in the log")
    void shouldMaskAnException() throws InterruptedException {
        Secrets secrets =
                new Secrets(List.of(new Secrets.Secret("GIT", "forget it", List.of("example.org"), Set.of())));
        assertThat(logged(secrets)).singleElement().satisfies(one -> {
            assertThat(one.getMessage()).contains("I cannot [secret GIT]").doesNotContain("forget it");
            assertThat(one.getThrown()).isNull();
        });
    }

    private List<LogRecord> logged(Secrets secrets) throws InterruptedException {
        List<LogRecord> logged = new CopyOnWriteArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord logRecord) {
                logged.add(logRecord);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger(ToolExecutor.class.getName());
        logger.addHandler(handler);
        try {
            Reply reply = Calls.executor(secrets, tools.find("forget").orElseThrow())
                    .handle(Calls.request("forget", Map.of("what", "it"), 0));
            assertThat(reply).isInstanceOf(Reply.Failed.class);
        } finally {
            logger.removeHandler(handler);
        }
        return logged;
    }

    static class Other {
        @Tool
        void count() {}
    }

    @Test
    @DisplayName("F-159: two tools of one name do not start, and the message says whose they are")
    void shouldRefuseANameTwice() {
        List<dev.millrace.tools.CallableTool> both = java.util.stream.Stream.concat(
                        JavaTools.of(Shop.class, () -> shop).stream(), JavaTools.of(Other.class, Other::new).stream())
                .toList();
        assertThatThrownBy(() -> new ToolRegistry(both))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Tool \"count\" is registered twice, by " + Shop.class.getName() + ".count and by "
                        + Other.class.getName() + ".count");
    }

    static class NoPrimitive {
        @Tool
        void wrong(@P(value = "x", required = false) int count) {}
    }

    static class NoMemory {
        @Tool
        void wrong(@ToolMemoryId String id) {}
    }

    static class NoType {
        @Tool
        void wrong(Runnable what) {}
    }

    static class NoName {
        @Tool(name = "not a name")
        void wrong() {}
    }

    static class NoStatic {
        @Tool
        static void wrong() {}
    }

    @Test
    void shouldLeaveOutTheCircuitWhereEachCallGoesSomewhereElse() {
        assertThat(JavaTools.of(shop))
                .extracting(dev.millrace.tools.CallableTool::circuit)
                .containsExactly("count", "find_all", "forget", "later", "refuse", "ship");
        assertThat(JavaTools.withoutCircuit(shop))
                .extracting(dev.millrace.tools.CallableTool::circuit)
                .containsOnlyNulls();
    }

    @Test
    void shouldSayWhatIsWrongWithAMethod() {
        assertThatThrownBy(() -> JavaTools.of(NoPrimitive.class, NoPrimitive::new))
                .hasMessageContaining(
                        "NoPrimitive.wrong: parameter count: expected one that can be absent, found a int");
        assertThatThrownBy(() -> JavaTools.of(NoMemory.class, NoMemory::new))
                .hasMessageContaining("NoMemory.wrong: @ToolMemoryId: expected a parameter of type ToolContext");
        assertThatThrownBy(() -> JavaTools.of(NoType.class, NoType::new))
                .hasMessageContaining("NoType.wrong: parameter what: expected a type that JSON can be read into");
        assertThatThrownBy(() -> JavaTools.of(NoName.class, NoName::new))
                .hasMessageContaining("NoName.wrong: tool name: expected 1 to 64 letters");
        assertThatThrownBy(() -> JavaTools.of(NoStatic.class, NoStatic::new))
                .hasMessageContaining("neither private nor static");
    }

    private ToolDefinition definition(String name) {
        return tools.find(name).orElseThrow().definition();
    }

    private JsonNode schema(String name) throws JsonProcessingException {
        return Json.MAPPER.readTree(Json.writeText(definition(name).parameters()));
    }

    private @Nullable Object call(String name, String params) throws Exception {
        return tools.find(name)
                .orElseThrow()
                .call(Json.readObject(params.getBytes(java.nio.charset.StandardCharsets.UTF_8)), CONTEXT);
    }
}
