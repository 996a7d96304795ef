package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JsonObjectTest {

    @Test
    void shouldNotChangeWithWhatItWasMadeOf() {
        // given
        List<Object> rows = new ArrayList<>(List.of(1));
        Map<String, @Nullable Object> inner = new LinkedHashMap<>(Map.of("rows", rows));
        Map<String, @Nullable Object> outer = new LinkedHashMap<>(Map.of("inner", inner));

        // when
        JsonObject object = JsonObject.of(outer);
        rows.add(2);
        inner.put("more", true);
        outer.clear();

        // then
        assertThat(object).isEqualTo(Map.of("inner", Map.of("rows", List.of(1))));
        assertThat(object.get("inner")).isInstanceOf(JsonObject.class);
        assertThatThrownBy(() -> object.put("a", 1)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> object.entrySet().clear()).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void shouldNotBeCopiedAgain() {
        JsonObject object = JsonObject.of(Map.of("a", 1));

        assertThat(JsonObject.of(object)).isSameAs(object);
        assertThat(JsonObject.of(Map.of("inner", object)).get("inner")).isSameAs(object);
        assertThat(JsonObject.ofNullable(null)).isNull();
    }

    @Test
    void shouldEqualItselfReadBack() throws MalformedEventException {
        // given
        JsonObject object = JsonObject.builder()
                .put("small", (short) 1)
                .put("large", 1L << 40)
                .put("real", 0.5)
                .put("nothing", null)
                .put("half", "a\ud800")
                .put("list", List.of(Map.of("a", 1.0f)))
                .build();

        // when
        JsonObject read = JsonObject.read(Json.writeText(object));

        // then
        assertThat(read).isEqualTo(object).hasSize(6);
        assertThat(object)
                .containsEntry("small", 1)
                .containsEntry("real", new BigDecimal("0.5"))
                .containsEntry("half", "a\ufffd")
                .containsEntry("nothing", null);
    }

    @Test
    void shouldKeepTheOrderInWhichItWasWritten() {
        // when
        JsonObject object = JsonObject.builder()
                .put("b", 1)
                .put("a", 2)
                .putIfPresent("c", null)
                .putIfPresent("d", 3)
                .putAll(Map.of("b", 4))
                .build();

        // then
        assertThat(Json.writeText(object)).isEqualTo("{\"b\":4,\"a\":2,\"d\":3}");
    }

    @Test
    void shouldRefuseWhatIsNoJson() {
        assertThatThrownBy(() -> JsonObject.of(Map.of("at", Instant.EPOCH)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("payload: expected JSON values, found a java.time.Instant");
        assertThatThrownBy(() -> JsonObject.of(Map.of(1, "a"))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> JsonObject.read("[]")).isInstanceOf(MalformedEventException.class);
        assertThatThrownBy(() -> JsonObject.read("{\"a\":1e309}")).isInstanceOf(MalformedEventException.class);
    }
}
