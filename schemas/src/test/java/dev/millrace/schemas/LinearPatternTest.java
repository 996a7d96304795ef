package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LinearPatternTest {

    @Test
    void shouldFind() {
        assertThat(LinearPattern.of("(?i)to.?do").isIn("a TO-DO b")).isTrue();
        assertThat(LinearPattern.of("^[a-f]{2,3}$").isIn("abcd")).isFalse();
    }

    @Test
    void shouldHaveALimitOfLength() {
        assertThat(LinearPattern.of("a".repeat(1_000)).isIn("b")).isFalse();
        assertThatThrownBy(() -> LinearPattern.of("a".repeat(1_001)))
                .hasMessage("expected at most 1000 characters, found 1001");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "(?:a{100}){100}",
                "a{1000}b{900}{10}",
                "[)]{1000}[]{1}]{1000}[[:alpha:]]{1000}",
                "\\){1000}\\p{Greek}{1000}\\x{41}{1000}\\Q(((\\E{1000}",
                "[0-9a-f]{64} [0-9a-f]{64} [0-9a-f]{64} [0-9a-f]{64} [0-9a-f]{64}",
                "{1000}{1000}x{,5}{a}"
            })
    void shouldTakeWhatIsNotTooLarge(String regex) {
        try {
            assertThat(LinearPattern.of(regex).isIn("x")).isIn(true, false);
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageNotContaining("written out");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "(?:a{100}){101}",
                "((a{100}){100}){100}",
                "(?:[a)]{1000}){11}",
                "(?:[])]{1000}){11}",
                "(?:[[:alpha:])]{1000}){11}",
                "(?:[\\])]{1000}){11}",
                "(?:\\)a{1000}){11}",
                "(?:\\Q)\\Ea{1000}){11}",
                "(?:\\p{L}{1000}){11}",
                "(?:a{1,1000}){11}",
                "(?:a{1000,}){11}",
                "(){1000}(((){100}){100}){2}"
            })
    void shouldRefuseWhatIsTooLarge(String regex) {
        assertThatThrownBy(() -> LinearPattern.of(regex)).hasMessageContaining("longer than 10000 characters");
    }

    @ParameterizedTest
    @ValueSource(strings = {"^(a+)+b$", "^(?!b)(a+)+b$", "^(a+)+\\1b$"})
    void shouldCheckATrapOfASchemaWithinASecond(String pattern) {
        // given
        Map<String, Object> schema =
                Map.of("type", "object", "properties", Map.of("name", Map.of("type", "string", "pattern", pattern)));
        String text = "{\"name\":\"" + "a".repeat(5_000) + "!\"}";
        long start = System.nanoTime();
        // when
        JsonShape.of(JsonObject.of(schema)).problems(text);
        ForeignSchemas.ofStrangers()
                .getSchema(Json.writeText(schema))
                .validate(text, com.networknt.schema.InputFormat.JSON);
        // then
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void shouldStillCheckPatternsOfAgents() {
        // given: lookaround, which RE2 does not know
        JsonShape shape = JsonShape.of(JsonObject.of(Map.of(
                "type", "object", "properties", Map.of("name", Map.of("type", "string", "pattern", "^(?!no).*$")))));
        // then
        assertThat(shape.problems("{\"name\":\"yes\"}")).isEmpty();
        assertThat(shape.problems("{\"name\":\"no\"}"))
                .isEqualTo(List.of("/name: expected a text that matches ^(?!no).*$, found \"no\""));
    }
}
