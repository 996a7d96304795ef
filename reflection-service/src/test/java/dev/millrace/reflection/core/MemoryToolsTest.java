package dev.millrace.reflection.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryToolsTest {

    private static final String USER = "facts/user.md";

    private final SortedMap<MemoryPath, String> documents = new TreeMap<>();

    @Test
    @DisplayName("F-162: memory_list shows path, summary and size of each, by path; nothing = an empty list")
    void shouldListDocuments() throws MemoryException {
        assertThat(call("memory_list", Map.of()).result()).isEqualTo(List.of());

        put(USER, "# User\n\n> Summary: who the user is\n\nÄda");
        put("episodes/2026-11.md", "no summary");

        assertThat(call("memory_list", Map.of()).result())
                .isEqualTo(List.of(
                        Map.of("path", "episodes/2026-11.md", "summary", "", "size", 10L),
                        Map.of("path", USER, "summary", "who the user is", "size", 40L)));
    }

    @Test
    @DisplayName("F-163: memory_write replaces the whole document, memory_read gives it back")
    void shouldWriteAndRead() throws MemoryException {
        put(USER, "old");

        MemoryTools.Outcome written = call("memory_write", Map.of("path", USER, "content", "new"));

        assertThat(written.result()).isEqualTo(Map.of("path", USER, "size", 3L));
        assertThat(change(written)).isEqualTo("new");
        assertThat(call("memory_read", Map.of("path", USER)).result()).isEqualTo("old");
    }

    @Test
    void shouldSayWhichDocumentIsNotThere() {
        assertRefused("memory_read", Map.of("path", USER), "document_not_found")
                .hasMessageContaining(USER)
                .hasMessageContaining("memory_list");
        assertRefused("memory_patch", Map.of("path", USER, "old_str", "a", "new_str", "b"), "document_not_found");
    }

    @Test
    @DisplayName("F-164: memory_patch with one match")
    void shouldPatchTheOnlyMatch() throws MemoryException {
        put(USER, "likes tea, drinks water");

        assertThat(change(call("memory_patch", Map.of("path", USER, "old_str", "tea", "new_str", "$1 coffee"))))
                .isEqualTo("likes $1 coffee, drinks water");
    }

    @Test
    @DisplayName("F-164: memory_patch with no match")
    void shouldNotPatchWithoutAMatch() {
        put(USER, "likes tea");

        assertRefused("memory_patch", Map.of("path", USER, "old_str", "coffee", "new_str", "x"), "string_not_found")
                .hasMessage("String not found in facts/user.md");
    }

    @ParameterizedTest
    @ValueSource(strings = {"tea and tea", "teatea", "xteateax"})
    @DisplayName("F-164: memory_patch with two matches")
    void shouldNotPatchTwoMatches(String content) {
        put(USER, content);

        assertRefused("memory_patch", Map.of("path", USER, "old_str", "tea", "new_str", "x"), "string_not_unique")
                .hasMessage("String appears multiple times in facts/user.md — provide more context to make it unique");
    }

    @Test
    @DisplayName("F-164: matches that overlap are two")
    void shouldCountOverlappingMatches() {
        put(USER, "aaa");

        assertRefused("memory_patch", Map.of("path", USER, "old_str", "aa", "new_str", "x"), "string_not_unique");
        assertRefused("memory_patch", Map.of("path", USER, "old_str", "", "new_str", "x"), "invalid_arguments");
    }

    @Test
    @DisplayName("F-165: memory_append makes the document, adds to it, and keeps its summary in one line")
    void shouldAppend() throws MemoryException {
        assertThat(change(call("memory_append", Map.of("path", USER, "entry", "- a"))))
                .isEqualTo("- a\n");

        put(USER, "# User\ntext");
        assertThat(change(call("memory_append", Map.of("path", USER, "entry", "- b\n", "summary", "two\nlines"))))
                .isEqualTo("# User\n\n> Summary: two lines\ntext\n- b\n");

        put(USER, "# User\n> Summary: old\n");
        assertThat(change(call("memory_append", Map.of("path", USER, "entry", "- c", "summary", "new"))))
                .isEqualTo("# User\n> Summary: new\n- c\n");

        put(USER, "# User\n> Summary: old\n");
        assertThat(change(call("memory_append", Map.of("path", USER, "entry", "- d"))))
                .isEqualTo("# User\n> Summary: old\n- d\n");
    }

    @Test
    @DisplayName("facts have at most 15 KB of UTF-8, and the refusal tells the model to condense")
    void shouldCapFacts() throws MemoryException {
        String full = "ä".repeat(15 * 1024 / 2);

        assertThat(change(call("memory_write", Map.of("path", USER, "content", full))))
                .isEqualTo(full);
        assertRefused("memory_write", Map.of("path", USER, "content", full + "x"), "document_too_large")
                .hasMessageContaining("15.0KB")
                .hasMessageContaining("Nothing was written")
                .hasMessageContaining("memory_write");
        put(USER, full);
        assertRefused("memory_append", Map.of("path", USER, "entry", "x"), "document_too_large");
        assertThat(change(call("memory_write", Map.of("path", "episodes/2026-11.md", "content", full + "x"))))
                .hasSize(full.length() + 1);
        assertRefused(
                "memory_write",
                Map.of("path", "episodes/2026-11.md", "content", "x".repeat(100 * 1024 + 1)),
                "document_too_large");
    }

    @Test
    void shouldRefuseWhatIsNoCall() {
        assertRefused("memory_write", Map.of("path", USER), "invalid_arguments");
        assertRefused("memory_write", Map.of("path", 7, "content", "x"), "invalid_arguments");
        assertRefused("memory_forget", Map.of(), "tool_not_found");
        assertRefused("memory_read", Map.of("path", "../x"), "path_outside_memory")
                .hasMessage("Path \"../x\" escapes memory directory");
    }

    @Test
    @DisplayName("F-079: sizes for people")
    void shouldShowSizes() {
        assertThat(Markdown.shownSize(320)).isEqualTo("320B");
        assertThat(Markdown.shownSize(1_229)).isEqualTo("1.2KB");
    }

    private org.assertj.core.api.AbstractThrowableAssert<?, ?> assertRefused(
            String tool, Map<String, Object> params, String code) {
        return assertThatThrownBy(() -> call(tool, params))
                .isInstanceOfSatisfying(
                        MemoryException.class, no -> assertThat(no.code()).isEqualTo(code));
    }

    private static String change(MemoryTools.Outcome outcome) {
        return Objects.requireNonNull(outcome.change(), "nothing was changed").content();
    }

    private void put(String path, String content) {
        documents.put(new MemoryPath(path), content);
    }

    private MemoryTools.Outcome call(String tool, Map<String, Object> params) throws MemoryException {
        return MemoryTools.call(tool, params, new Documents() {
            @Override
            public @Nullable String content(MemoryPath path) {
                return documents.get(path);
            }

            @Override
            public SortedMap<MemoryPath, String> all() {
                return documents;
            }
        });
    }
}
