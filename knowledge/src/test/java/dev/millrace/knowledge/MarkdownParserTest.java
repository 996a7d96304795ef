package dev.millrace.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.knowledge.core.Chunk;
import dev.millrace.knowledge.core.ChunkSettings;
import dev.millrace.knowledge.core.ChunkSettings.Strategy;
import dev.millrace.knowledge.core.Chunker;
import dev.millrace.knowledge.core.MarkdownParser;
import dev.millrace.knowledge.core.ParsedDocument;
import dev.millrace.knowledge.core.Section;
import dev.millrace.knowledge.core.Section.Block;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class MarkdownParserTest {

    private static final int LONG = 200_000;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "# The wheel",
                "#\tThe wheel",
                "#   The wheel   ",
                "# The wheel #",
                "# The wheel ###",
                "# The wheel#",
                "###### The wheel ##",
                "# **The** [wheel](https://example.org \"a wheel\")"
            })
    void shouldKnowAHeading(String line) {
        assertThat(MarkdownParser.parse(line + "\nIt turns."))
                .isEqualTo(new ParsedDocument(
                        "The wheel", List.of(new Section(List.of("The wheel"), paragraph("It turns.")))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"#The wheel", "####### The wheel", " # The wheel", "The # wheel", "#"})
    void shouldTakeOtherLinesForText(String line) {
        assertThat(MarkdownParser.parse(line).sections()).containsExactly(new Section(List.of(), paragraph(line)));
    }

    @Test
    void shouldLeaveOutWhatClosesAHeadingAndNothingElse() {
        assertThat(MarkdownParser.parse("# One # #\nx\n## C# ##  \nx\n### ##\nx\n")
                        .sections())
                .extracting(Section::path)
                .containsExactly(List.of("One #"), List.of("One #", "C# ##"), List.of("One #", "C# ##", ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"|---|---|", "---|---", " | :-- | --: | ", "-|", "|-|", ":-:|:-:"})
    void shouldKnowATable(String divider) {
        assertThat(MarkdownParser.parse("part | age\n" + divider + "\naxle | 9\n")
                        .sections())
                .containsExactly(new Section(
                        List.of(), List.of(new Block.Table(List.of("part", "age"), List.of(List.of("axle", "9"))))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"---", "|---", "|:|", "--x|--", ""})
    void shouldTakeWhatHasNoDividerForText(String line) {
        assertThat(MarkdownParser.parse("part | age\n" + line + "\naxle | 9\n")
                        .sections()
                        .getFirst()
                        .blocks())
                .hasOnlyElementsOfType(Block.Paragraph.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"```", "   ```java", "~~~", "`````"})
    void shouldTakeCodeAsItIs(String fence) {
        assertThat(MarkdownParser.parse(fence + "\n# no **heading**\n" + fence.strip() + "\n")
                        .sections())
                .containsExactly(new Section(List.of(), paragraph("# no **heading**")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("hostileTexts")
    @Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    @DisplayName("a text of a stranger is read and cut in a time that grows with its length, whatever stands there")
    void shouldTakeNoLongerForWhatWasMadeForIt(String name, String text) {
        // when
        ParsedDocument parsed = MarkdownParser.parse(text);
        // then
        assertThat(parsed.sections()).as(name).isNotEmpty();
        for (Strategy strategy : Strategy.values()) {
            List<Chunk> chunks = new Chunker(ChunkSettings.of(strategy)).chunks(parsed);
            assertThat(chunks.stream().mapToLong(chunk -> chunk.text().length()).sum())
                    .as("%s cut by %s", name, strategy)
                    .isBetween(1L, 2L * text.length());
        }
    }

    static Stream<Arguments> hostileTexts() {
        return Stream.of(
                        List.of("a divider that is none", "a|b\n" + "-|".repeat(LONG / 2) + "x"),
                        List.of("a divider of blanks", "a|b\n" + " ".repeat(LONG) + "x"),
                        List.of("a divider of dashes", "a|b\n" + "-".repeat(LONG)),
                        List.of("a heading of hashes", "# " + "#".repeat(LONG) + "x\nx"),
                        List.of("a heading of blanks", "# " + " ".repeat(LONG) + "\u2028x\nx"),
                        List.of("a heading of hashes and blanks", "# " + "# ".repeat(LONG / 2) + "x\nx"),
                        List.of("a fence of backticks", "`".repeat(LONG) + "\u2028x\nx"),
                        List.of("a fence of blanks", " ".repeat(LONG) + "\u2028x\nx"),
                        List.of("brackets", "x" + "[".repeat(LONG)),
                        List.of("links that do not end", "[x](".repeat(LONG / 4)),
                        List.of("links with blanks", "[x](" + " ".repeat(LONG) + "x"),
                        List.of("links with quotes", "[x]( \"".repeat(LONG / 6)),
                        List.of("a link with quotes", "[x](a " + "\" ".repeat(LONG / 2)),
                        List.of("a link of text", "[" + "x".repeat(LONG) + "]("),
                        List.of("empty lines", "x" + "\n ".repeat(LONG / 2) + "x"),
                        List.of("an empty line that is none", "x\n" + " ".repeat(LONG) + "x"),
                        List.of("cells", "|x".repeat(LONG / 2) + "\n|-|\n" + "\\|x".repeat(LONG / 3)),
                        List.of("sentences that do not end", "x. ".repeat(LONG / 3)),
                        List.of("ends of sentences", "x" + ".".repeat(LONG)),
                        List.of("ends of sentences in brackets", "x" + ".)\"".repeat(LONG / 3)),
                        List.of("blanks after a sentence", "x." + " ".repeat(LONG) + "x"),
                        List.of("ends of lines of another kind", "x\u2028".repeat(LONG / 2)))
                .map(each -> Arguments.of(each.get(0), each.get(1)));
    }

    private static List<Block> paragraph(String text) {
        return List.of(new Block.Paragraph(text));
    }
}
