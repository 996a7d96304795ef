package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IdsTest {

    @Test
    void shouldDrawUuidsOfVersion7WithTheTimeInFront() {
        // given
        long before = System.currentTimeMillis();

        // when
        String id = Ids.random();

        // then
        UUID uuid = UUID.fromString(id);
        assertThat(id).matches("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
        assertThat(uuid.variant()).isEqualTo(2);
        assertThat(uuid.getMostSignificantBits() >>> 16).isBetween(before, System.currentTimeMillis());
    }

    @Test
    void shouldNotDrawAnIdTwice() {
        // given
        Set<String> drawn = new HashSet<>();

        // when
        for (int i = 0; i < 100_000; i++) {
            drawn.add(Ids.random());
        }

        // then
        assertThat(drawn).hasSize(100_000);
    }

    /** These values stand in journals: another one here means that a replay makes other ids than it did before. */
    @ParameterizedTest
    @CsvSource({
        "e1, TASK_CREATED, 0, c374d4fce110636c71e67d944b4595dd",
        "e1, TASK_CREATED, 1, 114eb4affa90d47be56ef921c99326cf",
        "e2, TASK_CREATED, 0, 6fbd26184f24b978e57858e43650b677",
        "e1, REASON_DONE, 0, c2cb9d0f51ddc85cf9e8e22fa5f690f3"
    })
    void shouldDeriveTheSameIdForEver(String causationId, KnownEventType type, int ordinal, String expected) {
        assertThat(Ids.derived(causationId, type, ordinal)).isEqualTo(expected);
    }

    @Test
    void shouldHashTextAsUtf8() {
        assertThat(Ids.hash("ä")).isEqualTo("33e6d73fee82904c8d7afb78de1154d1e8dc2a0edb08120e63df5b9385c2d9cc");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "a b", "ä€😀", "t/1/0-9f", "../../etc/passwd", "{\"id\":1}", "%0a", "'; drop table"})
    void shouldTakeAnyPrintableId(String id) {
        assertThatCode(() -> Ids.require("id", id)).doesNotThrowAnyException();
    }

    @Test
    void shouldTakeAnIdOfUpTo200Characters() {
        assertThatCode(() -> Ids.require("id", "x".repeat(200))).doesNotThrowAnyException();
        assertThatThrownBy(() -> Ids.require("id", "x".repeat(201)))
                .hasMessage("id: expected 1 to 200 characters that are not all blank, found 201");
        assertThatThrownBy(() -> Ids.require("id", "")).hasMessageEndingWith("found 0");
        assertThatThrownBy(() -> Ids.require("id", " \t ")).hasMessageContaining("not all blank");
    }

    @ParameterizedTest
    @CsvSource({"a\\u0000, U+0000", "a\\u000a, U+000A", "a\\u001b, U+001B", "a\\u007f, U+007F", "a\\u0085, U+0085"})
    void shouldRefuseControlCharacters(String escaped, String name) {
        // given
        String id = "a" + (char) Integer.parseInt(escaped.substring(3), 16);

        // then
        assertThatThrownBy(() -> Ids.require("sessionId", id))
                .hasMessage("sessionId: expected no control characters and no halves of surrogate pairs, found " + name
                        + " at index 1");
    }

    @Test
    void shouldRefuseHalvesOfSurrogatePairs() {
        assertThatThrownBy(() -> Ids.require("id", "\ud83d")).hasMessageContaining("U+D83D at index 0");
        assertThatThrownBy(() -> Ids.require("id", "a\ude00b")).hasMessageContaining("U+DE00 at index 1");
        assertThatThrownBy(() -> Ids.require("id", "\ud83d\ud83d\ude00")).hasMessageContaining("U+D83D at index 0");
    }
}
