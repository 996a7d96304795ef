package dev.millrace.reflection.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EditTest {

    @ParameterizedTest(name = "exists={0} anyOf={1} noneOf={2}: a document {3} -> {4}")
    @CsvSource(
            nullValues = "-",
            value = {
                "-, -, -, -, true",
                "-, -, -, a, true",
                "true, -, -, a, true",
                "true, -, -, -, false",
                "false, -, -, -, true",
                "false, -, -, a, false",
                "-, a b, -, a, true",
                "-, a b, -, b, true",
                "-, a b, -, c, false",
                "-, a b, -, -, false",
                "-, '', -, a, false",
                "-, -, a, -, true",
                "-, -, a, b, true",
                "-, -, a, a, false",
                "-, a, a, a, false",
                "true, a, b, a, true"
            })
    void shouldCompareTags(
            @Nullable Boolean exists,
            @Nullable String anyOf,
            @Nullable String noneOf,
            @Nullable String tag,
            boolean holds) {
        Edit.Condition condition = new Edit.Condition(
                exists, anyOf == null ? null : tags(anyOf), noneOf == null ? Set.of() : tags(noneOf));

        assertThat(condition.holds(tag)).isEqualTo(holds);
    }

    @ParameterizedTest
    @ValueSource(longs = {MemoryTools.MAX_FACTS_BYTES, MemoryTools.MAX_EPISODES_BYTES})
    void shouldTakeWhatIsAsLargeAsItMayBe(long limit) throws MemoryException {
        MemoryPath path =
                MemoryPath.parse(limit == MemoryTools.MAX_FACTS_BYTES ? "facts/user.md" : "episodes/2026-11.md");

        assertThatCode(() -> edit(path, "x".repeat((int) limit)).check(null)).doesNotThrowAnyException();
        assertThatThrownBy(() -> edit(path, "x".repeat((int) limit - 1) + "ö").check(null))
                .isInstanceOfSatisfying(
                        MemoryException.class, no -> assertThat(no.code()).isEqualTo("document_too_large"));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {"-, -, document_not_found", "-, b, precondition_failed", "text, -, precondition_failed"})
    void shouldSayWhyNot(@Nullable String content, @Nullable String tag, String code) throws MemoryException {
        Edit edit =
                new Edit(MemoryPath.parse("facts/user.md"), content, new Edit.Condition(null, Set.of("a"), Set.of()));

        assertThatThrownBy(() -> edit.check(tag))
                .isInstanceOfSatisfying(
                        MemoryException.class, no -> assertThat(no.code()).isEqualTo(code));
    }

    private static Edit edit(MemoryPath path, String content) {
        return new Edit(path, content, new Edit.Condition(null, null, Set.of()));
    }

    private static Set<String> tags(String text) {
        return text.isEmpty() ? Set.of() : Set.of(text.split(" ", -1));
    }
}
