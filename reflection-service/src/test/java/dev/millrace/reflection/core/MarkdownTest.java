package dev.millrace.reflection.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MarkdownTest {

    @ParameterizedTest
    @ValueSource(strings = {"", "\u007f", "\u0080", "\u07ff", "\u0800", "\uffff", "\ud800\udc00", "mühle 水车 🎡"})
    void shouldCountBytes(String text) {
        assertThat(Markdown.size(text)).isEqualTo(text.getBytes(StandardCharsets.UTF_8).length);
    }

    @ParameterizedTest
    @CsvSource({"0, 0B", "1023, 1023B", "1024, 1.0KB", "1536, 1.5KB"})
    void shouldShowSizes(long bytes, String shown) {
        assertThat(Markdown.shownSize(bytes)).isEqualTo(shown);
    }

    @Test
    void shouldCutASummaryThatIsTooLong() {
        assertThat(Markdown.summary("> Summary: " + "s".repeat(400))).isEqualTo("s".repeat(400));
        assertThat(Markdown.summary("> Summary: " + "s".repeat(401))).isEqualTo("s".repeat(399) + "…");
    }

    @ParameterizedTest
    @CsvSource({
        "'# A\n> Summary: old\ntext', '# A\n> Summary: new\ntext'",
        "'# A\ntext', '# A\n\n> Summary: new\ntext'",
        "text, '> Summary: new\n\ntext'",
        "'', '> Summary: new\n\n'"
    })
    void shouldPutASummaryWhereItBelongs(String content, String with) {
        assertThat(Markdown.withSummary(content, " new ")).isEqualTo(with);
    }

    @Test
    void shouldTakePathsUpToTheirLength() throws MemoryException {
        // as long as the form of a name allows, which is less than a path may have
        String longest = "facts/" + "n".repeat(81) + ".md";

        assertThat(MemoryPath.parse(longest).text()).isEqualTo(longest);
        assertThatThrownBy(() -> MemoryPath.parse("facts/" + "n".repeat(82) + ".md"))
                .isInstanceOf(MemoryException.class);
    }
}
