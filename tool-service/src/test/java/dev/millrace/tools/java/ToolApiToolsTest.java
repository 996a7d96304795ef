package dev.millrace.tools.java;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.Description;
import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.ToolRegistry;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Methods that say what they are in the words of {@code dev.millrace.tool.api}; LangChain4j's are in {@link JavaToolsTest}. */
class ToolApiToolsTest {

    private static final Instant DEADLINE = Instant.parse("2026-11-22T05:00:00Z");
    private static final dev.millrace.tools.CallContext CONTEXT =
            new dev.millrace.tools.CallContext("task-1", "session-1", "acme", "task-1/1/0", DEADLINE);

    @Description("Where something goes.")
    record Address(@Description("Street and number.") String street, Optional<String> floor) {}

    enum Way {
        POST,
        TRAIN
    }

    /** What a user may write. */
    public static class Shop {

        @Tool(
                value = "Pays money back.",
                name = "refund_order",
                sideEffects = SideEffects.IDEMPOTENT,
                timeoutMs = 5_000,
                approval = "when: args.amount > 100",
                approvalExpiryMs = 3_600_000,
                maxAttempts = 3)
        public String refund(
                @Param("How much.") BigDecimal amount,
                @Param(value = "To whom.", name = "to") Address address,
                @Param(value = "How.", defaultValue = "POST") Way way,
                @Param(required = false) @Nullable Integer count,
                Optional<String> note,
                ToolContext context) {
            return amount + "|" + address.street() + "|" + way + "|" + count + "|" + note.orElse("-") + "|"
                    + context.idempotencyKey() + "|" + context.taskId() + "|"
                    + context.session().orElse("-") + "|" + context.namespace() + "|" + context.deadline();
        }

        @Tool("Says what is there.")
        public List<String> list() {
            return List.of("flour");
        }

        @Tool("Says no.")
        public String refuse(String how) throws ToolException {
            throw switch (how) {
                case "passing" -> ToolException.passing("busy", "Later.", Duration.ofSeconds(2));
                case "soon" -> ToolException.passing("busy", "Later.");
                case "uncertain" -> ToolException.uncertain("lost", "Who knows?");
                default -> new ToolException("sold_out", "There is none left.");
            };
        }
    }

    private final Shop shop = new Shop();
    private final ToolRegistry tools = new ToolRegistry(JavaTools.of(Shop.class, () -> shop));

    @Test
    void shouldTakeTheTerms() {
        ToolDefinition refund = definition("refund_order");
        assertThat(refund.description()).isEqualTo("Pays money back.");
        assertThat(refund.timeoutMs()).isEqualTo(5_000);
        assertThat(refund.sideEffects()).isEqualTo(ToolDefinition.SideEffects.IDEMPOTENT);
        assertThat(refund.approval()).isEqualTo(new ToolDefinition.Approval.When("args.amount > 100"));
        assertThat(refund.approvalExpiryMs()).isEqualTo(3_600_000);
        assertThat(refund.onExpiry()).isEqualTo(ToolDefinition.OnExpiry.REJECT);
        assertThat(refund.retry()).isEqualTo(new ToolDefinition.Retry(3, ToolDefinition.DEFAULT_RETRY_DELAY_MS));
    }

    @Test
    @DisplayName("a tool that says nothing about its terms has those of a definition that says nothing")
    void shouldHaveTheDefaultsOfTheContract() throws Exception {
        ToolDefinition list = definition("list");
        ToolDefinition said = ToolDefinition.fromJson(
                "{\"name\":\"list\",\"description\":\"Says what is there.\",\"toolset\":\"tool\"}"
                        .getBytes(StandardCharsets.UTF_8));
        assertThat(list.timeoutMs()).isEqualTo(said.timeoutMs());
        assertThat(list.sideEffects()).isEqualTo(said.sideEffects());
        assertThat(list.approval()).isEqualTo(said.approval());
        assertThat(list.approvalExpiryMs()).isEqualTo(said.approvalExpiryMs());
        assertThat(list.onExpiry()).isEqualTo(said.onExpiry());
        assertThat(list.retry()).isEqualTo(said.retry());
    }

    @Test
    void shouldHaveTheSideEffectsOfTheContract() {
        assertThat(Arrays.stream(SideEffects.values()).map(Enum::name))
                .containsExactlyElementsOf(Arrays.stream(ToolDefinition.SideEffects.values())
                        .map(Enum::name)
                        .toList());
    }

    @Test
    void shouldDeriveTheSchema() throws JsonProcessingException {
        assertThat(Json.MAPPER.readTree(
                        Json.writeText(definition("refund_order").parameters())))
                .isEqualTo(Json.MAPPER.readTree("""
            {"type":"object",
             "properties":{
               "amount":{"type":"number","description":"How much."},
               "to":{"type":"object","description":"To whom.",
                 "properties":{
                   "street":{"type":"string","description":"Street and number."},
                   "floor":{"type":"string"}},
                 "required":["street"],"additionalProperties":false},
               "way":{"type":"string","enum":["POST","TRAIN"],"description":"How.","default":"POST"},
               "count":{"type":"integer","minimum":-2147483648,"maximum":2147483647},
               "note":{"type":"string"}},
             "required":["amount","to"],"additionalProperties":false}\
            """));
    }

    record Item(
            @Description("How many.") @Min(1) int count,
            @Description("Whence.") Address from,
            Address back) {}

    static class Limited {
        @Tool("Takes what has limits.")
        public void take(
                @Size(min = 1, max = 9) String name,
                Optional<@Min(0) @Max(60) Integer> seconds,
                @Size(max = 3) List<@Pattern(regexp = "[a-z]+") String> words,
                Item item) {}
    }

    record Parcel(@Description("Whence.") Address from) {}

    static class Described {
        @Tool("Sends it.")
        public void send(Parcel parcel) {}
    }

    @Test
    @DisplayName("what a component says of itself goes before what its type says")
    void shouldDescribeAComponentRatherThanItsType() throws JsonProcessingException {
        ToolDefinition send = JavaTools.of(new Described()).getFirst().definition();
        assertThat(Json.MAPPER.readTree(Json.writeText(send.parameters())).at("/properties/parcel/properties/from"))
                .isEqualTo(Json.MAPPER.readTree("""
            {"type":"object","description":"Whence.",
             "properties":{
               "street":{"type":"string","description":"Street and number."},
               "floor":{"type":"string"}},
             "required":["street"],"additionalProperties":false}\
            """));
    }

    @Test
    @DisplayName("what Jakarta Validation says about parameters and components is in the schema")
    void shouldTakeConstraints() throws JsonProcessingException {
        ToolDefinition take = JavaTools.of(new Limited()).getFirst().definition();
        assertThat(Json.MAPPER.readTree(Json.writeText(take.parameters())).at("/properties"))
                .isEqualTo(Json.MAPPER.readTree("""
            {"name":{"type":"string","minLength":1,"maxLength":9},
             "seconds":{"type":"integer","minimum":0,"maximum":60},
             "words":{"type":"array","items":{"type":"string","pattern":"[a-z]+"},"maxItems":3},
             "item":{"type":"object",
               "properties":{
                 "count":{"type":"integer","minimum":1,"maximum":2147483647,"description":"How many."},
                 "from":{"$ref":"#/$defs/Address","description":"Whence."},
                 "back":{"$ref":"#/$defs/Address"}},
               "required":["count","from","back"],"additionalProperties":false}}\
            """));
    }

    @Test
    void shouldFillTheParameters() throws Exception {
        assertThat(call("refund_order", "{\"amount\":59.90,\"to\":{\"street\":\"Mill 1\"}}"))
                .isEqualTo("59.90|Mill 1|POST|null|-|task-1/1/0|task-1|session-1|acme|2026-11-22T05:00:00Z");
    }

    @Test
    void shouldPassOnWhatAToolRefuses() {
        assertThat(refusal("for good").code()).isEqualTo("sold_out");
        assertThat(refusal("for good")).hasMessage("There is none left.");
        assertThat(refusal("for good").again()).isEqualTo(ToolException.Again.NEVER);
        assertThat(refusal("passing").again()).isEqualTo(ToolException.Again.PASSING);
        assertThat(refusal("passing").retryAfter()).contains(Duration.ofSeconds(2));
        assertThat(refusal("soon").retryAfter()).isEmpty();
        assertThat(refusal("uncertain").again()).isEqualTo(ToolException.Again.UNCERTAIN);
    }

    static class TwoWays {
        @Tool("Does it.")
        @ToolTerms(approval = true)
        public void wrong() {}
    }

    static class NoApproval {
        @Tool(value = "Does it.", approval = "sometimes")
        public void wrong() {}
    }

    static class NoExpiry {
        @Tool(value = "Does it.", approvalExpiryMs = -1)
        public void wrong() {}
    }

    static class TooOften {
        @Tool(value = "Does it.", maxAttempts = 21)
        public void wrong() {}
    }

    @Test
    void shouldSayWhatIsWrongWithAMethod() {
        assertThatThrownBy(() -> JavaTools.of(TwoWays.class, TwoWays::new))
                .hasMessageContaining("TwoWays.wrong: expected dev.millrace.tool.api.Tool alone");
        assertThatThrownBy(() -> JavaTools.of(NoApproval.class, NoApproval::new))
                .hasMessageContaining("approval: expected never, always or when:<condition>, found \"sometimes\"");
        assertThatThrownBy(() -> JavaTools.of(NoExpiry.class, NoExpiry::new))
                .hasMessageContaining("approvalExpiryMs: expected 0 or more, found -1");
        assertThatThrownBy(() -> JavaTools.of(TooOften.class, TooOften::new))
                .hasMessageContaining("retry.maxAttempts: expected 1 to 20, found 21");
    }

    private ToolException refusal(String how) {
        return catchThrowableOfType(ToolException.class, () -> call("refuse", "{\"how\":\"" + how + "\"}"));
    }

    private ToolDefinition definition(String name) {
        return tools.find(name).orElseThrow().definition();
    }

    private @Nullable Object call(String name, String params) throws Exception {
        return tools.find(name).orElseThrow().call(Json.readObject(params.getBytes(StandardCharsets.UTF_8)), CONTEXT);
    }
}
