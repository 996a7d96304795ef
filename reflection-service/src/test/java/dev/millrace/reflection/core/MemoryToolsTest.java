package dev.millrace.reflection.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryToolsTest {

    private static final String USER = "facts/user.md";

    private final HeldDocuments documents = new HeldDocuments();

    @Test
    @DisplayName("F-162: memory_list shows path, summary and size of each, by path; nothing = an empty list")
    void shouldListDocuments() throws MemoryException {
        assertThat(result("memory_list", Map.of())).isEqualTo(List.of());

        put(USER, "# User\n\n> Summary: who the user is\n\nÄda");
        put("episodes/2026-11.md", "no summary");

        assertThat(result("memory_list", Map.of()))
                .isEqualTo(List.of(
                        Map.of("path", "episodes/2026-11.md", "summary", "", "size", 10L),
                        Map.of("path", USER, "summary", "who the user is", "size", 40L)));
    }

    @Test
    @DisplayName("memory_list goes through many documents in pages, each of which says how many more there are")
    void shouldListInPages() throws MemoryException {
        for (int i = 0; i < 1_234; i++) {
            put(String.format("facts/f%04d.md", i), "> Summary: s" + i);
        }
        Set<Object> seen = new HashSet<>();
        List<Object> more = new ArrayList<>();
        Object cursor = "";
        while (cursor != null) {
            List<Map<?, ?>> page = list(Map.of("limit", 500, "cursor", cursor));
            page.stream().map(item -> item.get("path")).filter(Objects::nonNull).forEach(seen::add);
            more.add(String.valueOf(page.getLast().get("more")));
            cursor = page.getLast().get("cursor");
        }

        assertThat(seen).hasSize(1_234);
        assertThat(more).containsExactly("734", "234", "null");
        assertThat(list(Map.of())).hasSize(DocumentPage.DEFAULT_LIMIT + 1);
        assertThat(list(Map.of("limit", DocumentPage.DEFAULT_LIMIT)).getLast())
                .isEqualTo(Map.of("more", 1_034L, "cursor", "200 facts/f0199.md"));
    }

    @Test
    void shouldEndAPageThatFitsExactlyWithoutACursor() throws MemoryException {
        for (int i = 0; i < DocumentPage.DEFAULT_LIMIT; i++) {
            put(String.format("facts/f%04d.md", i), "x");
        }

        assertThat(list(Map.of())).hasSize(DocumentPage.DEFAULT_LIMIT).allMatch(item -> item.containsKey("path"));

        put("facts/one-more.md", "x");
        assertThat(list(Map.of())).hasSize(DocumentPage.DEFAULT_LIMIT + 1);
    }

    @Test
    void shouldEndAPageBeforeItIsTooLong() throws MemoryException {
        String longest = "> Summary: " + "s".repeat(500);
        for (int i = 0; i < 300; i++) {
            put(String.format("facts/f%04d.md", i), longest);
        }

        List<Map<?, ?>> page = list(Map.of("limit", 1_000));

        // path, summary and frame of each
        assertThat(page).hasSize(DocumentPage.MAX_CHARS / (14 + 400 + 40) + 1);
        assertThat(page.getLast().get("more")).isEqualTo(300L - (page.size() - 1));
    }

    @Test
    void shouldRefuseWhatIsNoPage() {
        for (Object limit : List.of(0, 1_001, "ten", 1.5)) {
            assertRefused("memory_list", Map.of("limit", limit), "invalid_arguments")
                    .hasMessageContaining("1 to 1000");
        }
        for (Object cursor : List.of("facts/user.md", "1 ../../etc", 7, "x".repeat(100_000))) {
            assertThatThrownBy(() -> call("memory_list", Map.of("cursor", cursor)))
                    .isInstanceOf(MemoryException.class)
                    .message()
                    .hasSizeLessThan(300);
        }
    }

    @Test
    @DisplayName("a summary is not cut in the middle of a character, which would have no UTF-8 form")
    void shouldNotPartASurrogatePair() {
        String summary = Markdown.summary("> Summary: " + "😀".repeat(300));

        assertThat(summary.getBytes(StandardCharsets.UTF_8)).doesNotContain((byte) '?');
        assertThat(summary).hasSizeBetween(399, 400).endsWith("😀…");
    }

    @Test
    @DisplayName("F-163: memory_write replaces the whole document, memory_read gives it back")
    void shouldWriteAndRead() throws MemoryException {
        put(USER, "old");

        MemoryTools.Outcome written = call("memory_write", Map.of("path", USER, "content", "new"));

        assertThat(written.result()).isEqualTo(new MemoryTools.Written(USER, 3));
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
        documents.put(path, content);
    }

    private List<Map<?, ?>> list(Map<String, Object> params) throws MemoryException {
        List<Map<?, ?>> items = new ArrayList<>();
        if (result("memory_list", params) instanceof List<?> list) {
            list.forEach(item -> items.add((Map<?, ?>) item));
        }
        return items;
    }

    /** As JSON values. */
    private Object result(String tool, Map<String, Object> params) throws MemoryException {
        return Json.MAPPER.convertValue(call(tool, params).result(), Object.class);
    }

    private MemoryTools.Outcome call(String tool, Map<String, Object> params) throws MemoryException {
        return MemoryTools.call(tool, params, documents);
    }
}
