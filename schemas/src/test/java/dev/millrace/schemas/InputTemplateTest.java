package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InputTemplateTest {

    private static final Map<String, Object> ORDER;

    static {
        Map<String, @Nullable Object> order = new LinkedHashMap<>();
        order.put("id", "X1");
        order.put("note", null);
        order.put("empty", "");
        order.put("amount", 59.9);
        order.put("items", List.of(Map.of("name", "tea"), Map.of("name", "cup")));
        order.put("none", List.of());
        order.put("größe", "L");
        ORDER = Map.of("body", Map.of("order", order));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            order {{body.order.id}}, {{ body.order.amount }}!   | order X1, 59.9!
            {{body.order.items.1.name}} {{body.order.größe}}    | cup L
            {{body.order.items}}                                | [{"name":"tea"},{"name":"cup"}]
            `[{{body.order.note}}{{body.order.empty}}]`         | []
            `{{body.order.idd | "?"}} {{body.order.note|none}}` | `"?" none`
            `{{body.order.none | nothing}}{{body.order.id | ?}}`| nothingX1
            `[{{body.other.thing | }}]`                         | []
            {{ not a path }} {{}} {{#each}} $1 {body}           | {{ not a path }} {{}} {{#each}} $1 {body}
            """)
    @DisplayName("X-12: paths are what stands there, and otherwise is what is said where nothing does")
    void shouldFill(String template, String text) {
        InputTemplate input = new InputTemplate(template);
        assertThat(input.problems(JsonObject.of(ORDER))).isEmpty();
        assertThat(input.fill(JsonObject.of(ORDER))).contains(text);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {{body.order.idd}}          | {{body.order.idd}}, which leads nowhere; did you mean {{body.order.id}}?
            {{bdoy.order.id}}           | {{bdoy.order.id}}, which leads nowhere; did you mean {{body}}?
            {{body.order.customer}}     | leads nowhere; there are id, note, empty, amount, items, none, größe
            {{body.order.id.deeper}}    | {{body.order.id.deeper}}, which leads nowhere
            {{body.order.items.2.name}} | {{body.order.items.2.name}}, which leads nowhere
            {{body.order.items.-1}}     | {{body.order.items.-1}}, which leads nowhere
            {{body.order.note.x}}       | {{body.order.note.x}}, which leads nowhere
            """)
    @DisplayName("a path that leads nowhere is a mistake, told with the nearest that there is")
    void shouldTellWhatLeadsNowhere(String template, String problem) {
        assertThat(new InputTemplate(template).problems(JsonObject.of(ORDER)))
                .singleElement()
                .asString()
                .startsWith("/template: expected a path into the payload")
                .endsWith(problem);
    }

    @Test
    @DisplayName("one path and nothing else is what stands there, with its type; anything else is text")
    void shouldKeepTypes() {
        assertThat(value("{{ body.order.amount }}")).isInstanceOf(Number.class);
        assertThat(value("{{body.order.items}}")).isInstanceOf(List.class);
        assertThat(value("{{body.order.note}}")).isNull();
        assertThat(value("{{body.order.note | none}}")).isEqualTo("none");
        assertThat(value("{{body.order.nothing | 3}}")).isEqualTo("3");
        assertThat(value("{{body.order.amount}} €")).isEqualTo("59.9 €");
        assertThat(value("")).isEqualTo("");
        assertThat(new InputTemplate("x".repeat(InputTemplate.MAX_TEXT + 1)).value(JsonObject.of(ORDER)))
                .isEmpty();
    }

    private static @Nullable Object value(String template) {
        return new InputTemplate(template)
                .value(JsonObject.of(ORDER))
                .orElseThrow()
                .value();
    }

    @Test
    void shouldTellTenMistakesAndNoMore() {
        String template =
                IntStream.range(0, 50).mapToObj(i -> "{{a" + i % 25 + "}}").collect(Collectors.joining());
        assertThat(new InputTemplate("{{a}}{{a}}").problems(JsonObject.of(ORDER)))
                .hasSize(1);
        assertThat(new InputTemplate(template).problems(JsonObject.of(ORDER))).hasSize(10);
    }

    @Test
    void shouldNameTheFieldsThatItLooksInto() {
        assertThat(new InputTemplate("{{body.a}} {{metadata.host | x}} {{ no path }}").fields())
                .containsExactly("body", "metadata");
    }

    @Test
    @DisplayName("a hostile template over a hostile payload costs little")
    void shouldBeCheap() {
        // given
        Map<String, @Nullable Object> wide = new LinkedHashMap<>();
        IntStream.range(0, 100_000).forEach(i -> wide.put("k" + i, i));
        long start = System.nanoTime();
        // when
        new InputTemplate("{{a}}".repeat(20_000)).problems(JsonObject.of(wide));
        new InputTemplate("{{ ".repeat(30_000)).problems(JsonObject.of(wide));
        new InputTemplate("{{a|".repeat(25_000)).fill(JsonObject.of(wide));
        new InputTemplate("{{" + "a.".repeat(49_000) + "a}}").problems(JsonObject.of(wide));
        // then
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    }
}
