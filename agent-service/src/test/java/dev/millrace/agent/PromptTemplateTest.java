package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PromptTemplateTest {

    private static final Instant NEW_YEAR = Instant.parse("2026-12-31T23:59:59Z");

    @Test
    @DisplayName("date, namespace and fields of the input stand in the prompt")
    void shouldFillFields() {
        PromptTemplate prompt = new PromptTemplate(
                "{{date}} {{ namespace }} {{input.customer.name}} {{input.tags}} {{input.count}} {{input.missing}}.");

        Map<String, String> values = prompt.values(
                "acme",
                JsonObject.of(Map.of("customer", Map.of("name", "Ada $1"), "tags", List.of("a", 1), "count", 3)),
                NEW_YEAR);

        assertThat(prompt.fill(values)).isEqualTo("2026-12-31 acme Ada $1 [\"a\",1] 3 .");
    }

    @Test
    @DisplayName("a field says itself what stands there without a value; else that is nothing")
    void shouldTakeWhatIsSaidOtherwise() {
        PromptTemplate prompt =
                new PromptTemplate("For {{input.metadata.customer | a customer}}, {{input.tags|no tags}}"
                        + " and {{ input.text | nothing }}{{input.metadata.other}}.");

        assertThat(prompt.fill(
                        prompt.values("acme", JsonObject.of(Map.of("tags", List.of(), "text", "all")), NEW_YEAR)))
                .isEqualTo("For a customer, no tags and all.");
        assertThat(prompt.fill(
                        prompt.values("acme", JsonObject.of(Map.of("metadata", Map.of("customer", "Ada"))), NEW_YEAR)))
                .isEqualTo("For Ada, no tags and nothing.");
    }

    @Test
    @DisplayName("only what the prompt names is kept, and no more of it than the limit")
    void shouldKeepLittle() {
        PromptTemplate prompt = new PromptTemplate("{{input.text}} {{input.text}}");
        String limit = "x".repeat(PromptTemplate.MAX_VALUE_CHARS);

        assertThat(prompt.values("acme", JsonObject.of(Map.of("text", limit, "other", "y")), NEW_YEAR))
                .isEqualTo(Map.of("input.text", limit));
        assertThat(prompt.values("acme", JsonObject.of(Map.of("text", limit + "x")), NEW_YEAR))
                .isEqualTo(Map.of("input.text", limit + "…"));
    }

    @Test
    @DisplayName("what looks like a field in a value stays as it is")
    void shouldNotFillTwice() {
        PromptTemplate prompt = new PromptTemplate("{{input.text}}");

        assertThat(prompt.fill(prompt.values("acme", JsonObject.of(Map.of("text", "{{namespace}}")), NEW_YEAR)))
                .isEqualTo("{{namespace}}");
    }
}
