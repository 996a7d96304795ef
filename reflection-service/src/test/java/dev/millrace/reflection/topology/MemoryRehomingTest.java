package dev.millrace.reflection.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.engine.Rehoming;
import dev.millrace.engine.StoreSection;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MemoryRehomingTest {

    private static final int TO = 7;
    private static final byte[] ANY = "nonsense".getBytes(StandardCharsets.UTF_8);

    private final MemoryRehoming rehoming = new MemoryRehoming(TO);

    static Stream<String> sections() {
        return Arrays.stream(MemoryStores.class.getDeclaredFields())
                .filter(field -> Modifier.isStatic(field.getModifiers()) && field.getType() == StoreSection.class)
                .map(Field::getName)
                // is an obstacle while there is one
                .filter(name -> !name.equals("FORGETTING"));
    }

    @ParameterizedTest
    @MethodSource("sections")
    @DisplayName("there is no kind of rows that cannot be moved, and those of a namespace go where its calls come")
    void shouldKnowEverySection(String name) throws ReflectiveOperationException {
        StoreSection<?> section =
                (StoreSection<?>) MemoryStores.class.getDeclaredField(name).get(null);
        Rehoming.Row row = new Rehoming.Row(MemoryStores.ROWS, 0, section.storeKey("acme\u0000facts/user.md"), ANY);
        try {
            rehoming.place(row, (partition, key, value) -> {
                assertThat(partition).isEqualTo(Rehoming.home("acme", TO));
                assertThat(key).isSameAs(row.key());
                assertThat(value).isSameAs(row.value());
            });
        } catch (RuntimeException e) {
            // its value is nonsense
            assertThat(e).hasMessageNotContaining("a kind of rows that this version does not know");
            assertThat(MemoryStores.BY_NAMESPACE).doesNotContain(section);
        }
    }

    @Test
    void shouldRefuseRowsOfALaterVersion() {
        Rehoming.Row row = new Rehoming.Row(MemoryStores.ROWS, 0, new byte[] {'Z', 'x'}, ANY);

        assertThatThrownBy(() -> rehoming.place(row, (partition, key, value) -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a kind of rows that this version does not know: Z");
    }
}
