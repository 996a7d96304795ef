package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonShapeTest {

    private static final JsonShape VERDICT = JsonShape.of(JsonObject.of(Map.of(
            "type",
            "object",
            "properties",
            Map.of("verdict", Map.of("type", "string", "enum", List.of("yes", "no"))),
            "required",
            List.of("verdict"))));

    @Test
    void shouldTakeWhatFits() {
        assertThat(VERDICT.problems("{\"verdict\":\"yes\",\"why\":1}")).isEmpty();
    }

    @Test
    void shouldSayWhatDoesNotFit() {
        assertThat(VERDICT.problems("{\"verdict\":\"perhaps\"}"))
                .containsExactly("/verdict: expected one of yes, no, found \"perhaps\"");
        assertThat(VERDICT.problems("{}")).containsExactly("/verdict: expected a value, found none");
        assertThat(VERDICT.problems("yes")).singleElement().asString().startsWith("/: expected JSON, found");
        assertThat(VERDICT.problems("")).containsExactly("/: expected JSON, found nothing");
        assertThat(VERDICT.problems("[]")).containsExactly("/: expected an object, found a list");
    }

    @Test
    void shouldRefuseWhatIsNoSchemaOfAnObject() {
        assertThatThrownBy(() -> JsonShape.of(JsonObject.of(Map.of("type", "string"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("expected a JSON Schema with \"type\": \"object\", found type \"string\"");
        assertThatThrownBy(() -> JsonShape.of(JsonObject.of(Map.of("type", "object", "required", "verdict"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("/required");
    }
}
