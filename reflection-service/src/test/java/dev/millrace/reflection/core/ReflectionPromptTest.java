package dev.millrace.reflection.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ReflectionPromptTest {

    private final HeldDocuments documents = new HeldDocuments();

    @Test
    @DisplayName("F-094, F-095: all facts are preloaded, and of episodes the index, the newest first and cut")
    void shouldPreloadMemory() {
        documents.put("facts/user.md", "# User\nAda");
        for (int month = 1; month <= 60; month++) {
            documents.put(
                    String.format("episodes/%d-%02d.md", 2020 + month / 12, month % 12 + 1),
                    "> Summary: " + "s".repeat(300) + "\nunread");
        }

        String memory = begin().memory();

        assertThat(memory).contains("### facts/user.md\n\n# User\nAda").doesNotContain("unread");
        String index = memory.substring(memory.indexOf("- episodes/"));
        assertThat(index).startsWith("- episodes/2025-01.md (").hasSizeBetween(9_000, 10_000);
        assertThat(index.lines().toList()).isSortedAccordingTo(java.util.Comparator.reverseOrder());
    }

    @Test
    @DisplayName(
            "of more facts than fit, those about the user and the newest are shown whole; of the rest an index, and a"
                    + " tool to list them")
    void shouldShowTheNewestOfManyFacts() {
        String full = "> Summary: one of many\n" + "x".repeat(15_000);
        for (int i = 0; i < 600; i++) {
            documents.put(String.format("facts/fact-%03d.md", i), full, i);
        }
        documents.put("facts/user.md", "# User\nAda", 0);

        Reflection reflection = begin();

        assertThat(reflection.memory())
                .contains("### facts/user.md", "### facts/fact-599.md")
                .doesNotContain("### facts/fact-000.md")
                .contains("more, which memory_list shows")
                .hasSizeLessThan(Preload.MAX_FACTS_CHARS + 3 * Preload.MAX_INDEX_CHARS);
        assertThat(reflection.memory().lines().filter(line -> line.startsWith("- facts/")))
                .first()
                .asString()
                .contains("fact-588");
        assertThat(reflection.offers(MemoryTools.LIST)).isTrue();
    }

    @Test
    void shouldShowAsManyFactsAsFitAndNotOneMore() {
        String content = "x".repeat(15_000);
        int each = content.length() + "facts/f00.md".length();
        int fit = Preload.MAX_FACTS_CHARS / each;
        for (int i = 0; i < fit; i++) {
            documents.put(String.format("facts/f%02d.md", i), content, i);
        }

        assertThat(begin().partial()).isFalse();
        assertThat(begin().offers(MemoryTools.LIST)).isFalse();

        documents.put("facts/f99.md", content, 99);

        assertThat(begin().partial()).isTrue();
        assertThat(begin().memory()).doesNotContain("### facts/f00.md").contains("- facts/f00.md");
    }

    @Test
    @DisplayName("F-098: the model is shown what the task did, between what was asked and what was answered")
    void shouldShowTheSteps() {
        String task = ReflectionPrompt.of(
                        begin().told("Assistant calls grep_files {}\ngrep_files: none"), "2026-02", 100_000)
                .task();

        assertThat(task)
                .contains("# What was done\n\nAssistant calls grep_files {}\ngrep_files: none\n\n# What was answered");
        assertThat(begin().told("x".repeat(Reflection.MAX_STEPS_CHARS + 1)).steps())
                .hasSizeLessThan(Reflection.MAX_STEPS_CHARS + 50)
                .endsWith("(1 characters left out)");
    }

    @Test
    void shouldLeaveOutWhatIsTooLongOfATask() {
        Reflection reflection =
                Reflection.begin("😀".repeat(30_000), "r".repeat(Reflection.MAX_TEXT_CHARS), 2, 3, documents);

        assertThat(reflection.input()).endsWith("(20000 characters left out)").hasSizeLessThan(41_000);
        assertThat(reflection.response()).hasSize(Reflection.MAX_TEXT_CHARS);
    }

    @Test
    void shouldSayWhenMemoryIsEmpty() {
        assertThat(begin().memory()).contains("(none yet)");
    }

    @Test
    @DisplayName("F-101: the oldest rounds are dropped first, each with its results, and one is always kept")
    void shouldTrimToTheWindow() {
        Reflection reflection = begin();
        for (int i = 1; i <= 4; i++) {
            reflection = reflection.after(round(i, "x".repeat(1_000)), List.of());
        }
        int fixed = ReflectionPrompt.system().length() + all(reflection).task().length();
        long windowForTwo = (long) Math.ceil((fixed + 2 * 1_030) / (0.6 * 4));

        ReflectionPrompt.Shown shown = ReflectionPrompt.of(reflection, "2026-11", windowForTwo);

        assertThat(shown.task()).isEqualTo(all(reflection).task());
        assertThat(shown.rounds()).extracting(Reflection.Round::text).containsExactly("round 3", "round 4");
        assertThat(ReflectionPrompt.of(reflection, "2026-11", 1).rounds())
                .extracting(Reflection.Round::text)
                .containsExactly("round 4");
        assertThat(ReflectionPrompt.of(reflection, "2026-11", 1).task())
                .startsWith("[Reflection]")
                .hasSize(200);
    }

    @Test
    @DisplayName("F-101: what fits exactly is shown whole, and one character less costs the oldest round")
    void shouldTrimNothingThatFits() {
        Reflection reflection =
                begin().after(round(1, "x".repeat(1_000)), List.of()).after(round(2, "x".repeat(1_000)), List.of());
        int one = "round 1".length() + "memory_read".length() + "{}".length() + 1_000;
        long length =
                ReflectionPrompt.system().length() + all(reflection).task().length() + 2L * one;
        // 2.4 characters a token
        long fits = (long) Math.ceil(length / 2.4);

        assertThat(ReflectionPrompt.of(reflection, "2026-11", fits).rounds()).hasSize(2);
        assertThat(ReflectionPrompt.of(reflection, "2026-11", fits - 2).rounds())
                .extracting(Reflection.Round::text)
                .containsExactly("round 2");
        assertThat(ReflectionPrompt.of(reflection, "2026-11", fits - 2).task())
                .isEqualTo(all(reflection).task());
    }

    @Test
    @DisplayName("F-101: of a question of any length the first 40 000 characters are shown, and how many are not")
    void shouldCutWhatWasAsked() {
        assertThat(ReflectionPrompt.of(begin("q".repeat(40_000)), "2026-11", 1_000_000)
                        .task())
                .contains("\n\n" + "q".repeat(40_000) + "\n\n# What was answered\n\nI will\n\n")
                .doesNotContain("left out");
        assertThat(ReflectionPrompt.of(begin("q".repeat(40_001)), "2026-11", 1_000_000)
                        .task())
                .contains("\n\n" + "q".repeat(40_000) + "\n… (1 characters left out)\n\n");
    }

    @Test
    @DisplayName("F-096: after five rounds the model is not asked again")
    void shouldEndAfterFiveRounds() {
        Reflection reflection = begin();
        for (int i = 1; i <= 4; i++) {
            reflection = reflection.after(round(i, "{}"), List.of());
        }

        assertThat(reflection.isExhausted()).isFalse();
        assertThat(reflection.after(round(5, "{}"), List.of()).isExhausted()).isTrue();
    }

    private Reflection begin() {
        return begin("remember me");
    }

    private Reflection begin(String asked) {
        return Reflection.begin(asked, "I will", 2, 3, documents);
    }

    private static ReflectionPrompt.Shown all(Reflection reflection) {
        return ReflectionPrompt.of(reflection, "2026-11", 1_000_000);
    }

    private static Reflection.Round round(int number, String result) {
        return new Reflection.Round(
                "round " + number, List.of(new Reflection.Call("c" + number, "memory_read", "{}", result, false)));
    }
}
