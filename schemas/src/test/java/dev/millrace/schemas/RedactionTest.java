package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedactionTest {

    private static final Redaction REDACTION = Redaction.named(Map.of(
            "card", "\\b[45]\\d{3}(?:[ -]?\\d{4}){3}\\b",
            "email", "[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+",
            "price", "\\$\\d+"));

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            pay with 4111 1111 1111 1111, please | pay with [redacted:card], please
            from a.b@example.org to c@d.example  | from [redacted:email] to [redacted:email]
            that is $15                          | that is [redacted:price]
            41111111111111112                    | 41111111111111112
            nothing                              | nothing
            """)
    void shouldReplaceWhatMatches(String text, String left) {
        assertThat(REDACTION.text(text)).isEqualTo(left);
    }

    @Test
    @DisplayName("JSON stays JSON: texts, names of fields, and numbers, which become texts")
    void shouldKeepJsonJson() {
        assertThat(REDACTION.content("""
                {"text": "a\\n4111-1111-1111-1111", "card": 4111111111111111, "a@b.example": [1.50, true, null, "x"]}"""))
                .isEqualTo("{\"text\":\"a\\n[redacted:card]\",\"card\":\"[redacted:card]\","
                        + "\"[redacted:email]\":[1.50,true,null,\"x\"]}");
    }

    @Test
    void shouldLeaveBytesAsTheyAreWhereNothingMatches() {
        byte[] spaced = "{ \"text\" :  \"x\" }".getBytes(StandardCharsets.UTF_8);
        assertThat(REDACTION.content(spaced)).isSameAs(spaced);
        assertThat(Redaction.NONE.content(spaced)).isSameAs(spaced);
    }

    @Test
    @DisplayName("what is no JSON and no UTF-8 is redacted as well, and the rest of its bytes stay")
    void shouldRedactAnyBytes() {
        byte[] bytes = "\u00ff {\"text\": a@b.example".getBytes(StandardCharsets.ISO_8859_1);
        assertThat(REDACTION.content(bytes))
                .isEqualTo("\u00ff {\"text\": [redacted:email]".getBytes(StandardCharsets.ISO_8859_1));
    }

    @Test
    void shouldTakeItsKeysOutOfAllSettings() {
        Redaction redaction =
                Redaction.of(Map.of("bootstrap.servers", "x", "millrace.redaction.patterns.digits", "\\d+"));
        assertThat(redaction.text("route 66")).isEqualTo("route [redacted:digits]");
        assertThat(Redaction.of(Map.of("bootstrap.servers", "x")).isEmpty()).isTrue();
    }

    @Test
    void shouldRefuseWhatCannotBeUsed() {
        assertThatThrownBy(() -> Redaction.named(Map.of("a", "(")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("millrace.redaction.patterns.a: ");
        assertThatThrownBy(() -> Redaction.named(Map.of("a", "x*")))
                .hasMessageContaining("expected a pattern that matches something");
        assertThatThrownBy(() -> Redaction.named(Map.of("a", "(x)\\1"))).hasMessageContaining("a: ");
    }
}
