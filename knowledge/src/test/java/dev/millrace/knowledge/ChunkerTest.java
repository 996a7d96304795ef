package dev.millrace.knowledge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.knowledge.core.Chunk;
import dev.millrace.knowledge.core.ChunkSettings;
import dev.millrace.knowledge.core.ChunkSettings.Strategy;
import dev.millrace.knowledge.core.Chunker;
import dev.millrace.knowledge.core.MarkdownParser;
import dev.millrace.knowledge.core.ParsedDocument;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ChunkerTest {

    private static final String TABLE = """
            ---
            name: left out
            ---
            # Mills

            Water [turns](https://example.org) them.

            ## Wheels

            | wheel | `speed` |
            |---|---|
            | overshot | nine |
            | breast \\| pitch | seven |

            ```
            # no heading
            turn(wheel)
            ```
            """;

    @Test
    @DisplayName("F-302: a text is cut at its headings, and tables stay whole")
    void shouldCutAtHeadingsAndKeepTables() {
        // when
        List<Chunk> chunks = cut(ChunkSettings.of(Strategy.HEADINGS), TABLE);
        // then
        assertThat(chunks)
                .containsExactly(
                        new Chunk(0, List.of("Mills"), "Water turns them."),
                        new Chunk(
                                1,
                                List.of("Mills", "Wheels"),
                                "wheel | speed\novershot | nine\nbreast | pitch | seven\n\n# no heading\nturn(wheel)"));
        assertThat(chunks.getLast().inContext("Mills")).startsWith("Mills > Wheels\nwheel | speed");
    }

    @Test
    void shouldGiveEachPieceOfATableTheNamesOfItsColumns() {
        // given
        String rows = IntStream.range(0, 30)
                .mapToObj(row -> "| wheel " + row + " | turns at " + row + " |\n")
                .collect(Collectors.joining());
        // when
        List<Chunk> chunks =
                cut(new ChunkSettings(Strategy.HEADINGS, 40, 0), "# Wheels\n\n| name | speed |\n|---|---|\n" + rows);
        // then
        assertThat(chunks).hasSizeGreaterThan(3).allSatisfy(chunk -> {
            assertThat(chunk.text()).startsWith("name | speed\n").hasSizeLessThanOrEqualTo(160);
        });
        assertThat(chunks.stream().flatMap(chunk -> chunk.text().lines()).filter(line -> !line.startsWith("name")))
                .hasSize(30);
    }

    @Test
    @DisplayName("names of columns that take more than half of a chunk are not put before each row")
    void shouldNotRepeatWhatFillsAChunk() {
        // given
        String names = IntStream.range(0, 2_000)
                .mapToObj(column -> "| column " + column)
                .collect(Collectors.joining());
        String table = names + "|\n|---|---|\n" + "| axle | 9 |\n".repeat(2_000);
        // when
        List<Chunk> chunks = cut(ChunkSettings.of(Strategy.HEADINGS), table);
        // then
        assertThat(chunks.stream().mapToInt(chunk -> chunk.text().length()).sum())
                .isLessThan(2 * table.length());
        assertThat(chunks.getFirst().text()).startsWith("column 0 | column 1 |");
        assertThat(chunks.getLast().text()).endsWith("axle | 9");
    }

    @Test
    @DisplayName("of a heading that goes on for ever, chunks have the beginning")
    void shouldCutHeadings() {
        // when
        Chunk chunk = cut(ChunkSettings.of(Strategy.HEADINGS), "# " + "w".repeat(100_000) + "\n\nIt turns.")
                .getFirst();
        // then
        assertThat(chunk.section()).containsExactly("w".repeat(299) + '…');
    }

    @Test
    @DisplayName("what would be far more chunks than anybody wants is not cut to its end")
    void shouldMakeNoMoreChunksThanWanted() {
        // given: each chunk is the one before it but for a word
        Chunker chunker = new Chunker(new ChunkSettings(Strategy.FIXED, 4_096, 4_095));
        ParsedDocument parsed = MarkdownParser.parse("w ".repeat(1_000_000));
        // then
        assertThat(chunker.chunks(parsed, 11)).hasSize(11);
        assertThat(new Chunker(new ChunkSettings(Strategy.FIXED, 4_096, 0)).chunks(parsed, 1_000))
                .hasSizeBetween(120, 130);
    }

    @ParameterizedTest
    @EnumSource(Strategy.class)
    @DisplayName("F-302: chunks are as large as they may be, and lose nothing")
    void shouldLoseNothing(Strategy strategy) {
        // given
        String text = IntStream.range(0, 60)
                .mapToObj(i -> "Sentence number " + i + " says a little about the mill." + (i % 7 == 6 ? "\n\n" : " "))
                .collect(Collectors.joining());
        ChunkSettings chunking = new ChunkSettings(strategy, 50, strategy == Strategy.HEADINGS ? 0 : 12);
        // when
        List<Chunk> chunks = cut(chunking, text);
        // then
        assertThat(chunks).hasSizeGreaterThan(5);
        assertThat(chunks).allSatisfy(chunk -> assertThat(chunk.text()).hasSizeLessThanOrEqualTo(200));
        String all = chunks.stream()
                .map(Chunk::text)
                .collect(Collectors.joining(" "))
                .replaceAll("\\s+", " ");
        assertThat(IntStream.range(0, 60)).allSatisfy(i -> assertThat(all).contains("number " + i + " "));
        assertThat(chunks)
                .extracting(Chunk::number)
                .isEqualTo(IntStream.range(0, chunks.size()).boxed().toList());
    }

    @Test
    @DisplayName("F-302: a chunk begins with the end of the one before it")
    void shouldOverlap() {
        // given
        String text = IntStream.range(0, 100).mapToObj(i -> "word" + i).collect(Collectors.joining(" "));
        // when
        List<Chunk> chunks = cut(new ChunkSettings(Strategy.FIXED, 20, 5), text);
        // then
        for (int i = 1; i < chunks.size(); i++) {
            String first = chunks.get(i).text().split(" ", 2)[0];
            assertThat(chunks.get(i - 1).text()).contains(first);
        }
    }

    @Test
    @DisplayName("F-302: 512 tokens and an overlap of 50 for paragraphs, sentences and words")
    void shouldHaveTheDefaultsThatAreKnown() {
        assertThat(List.of(Strategy.PARAGRAPH, Strategy.SENTENCE, Strategy.FIXED))
                .extracting(ChunkSettings::of)
                .allMatch(chunking -> chunking.size() == 512 && chunking.overlap() == 50);
    }

    @Test
    void shouldCutWhatHasNoBlanks() {
        assertThat(cut(new ChunkSettings(Strategy.SENTENCE, 16, 0), "x".repeat(1_000)))
                .allSatisfy(chunk -> assertThat(chunk.text()).hasSizeLessThanOrEqualTo(64));
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        assertThatThrownBy(() -> new ChunkSettings(Strategy.FIXED, 15, 0))
                .hasMessageContaining("16 to 4096 tokens, found 15");
        assertThatThrownBy(() -> new ChunkSettings(Strategy.FIXED, 4_097, 0)).hasMessageContaining("found 4097");
        assertThatThrownBy(() -> new ChunkSettings(Strategy.FIXED, 16, 16))
                .hasMessageContaining("less than the size 16");
        assertThatThrownBy(() -> ChunkSettings.of(Strategy.FIXED).with("words", null, null))
                .hasMessageContaining("headings, paragraph, sentence or fixed, found words");
        assertThat(ChunkSettings.of(Strategy.HEADINGS).with("fixed", 16L, 15L))
                .isEqualTo(new ChunkSettings(Strategy.FIXED, 16, 15));
    }

    @Test
    void shouldMakeNothingOfNothing() {
        assertThat(cut(ChunkSettings.of(Strategy.HEADINGS), "")).isEmpty();
        assertThat(cut(ChunkSettings.of(Strategy.HEADINGS), "# Only a heading\n"))
                .isEmpty();
    }

    private static List<Chunk> cut(ChunkSettings chunking, String text) {
        return new Chunker(chunking).chunks(MarkdownParser.parse(text));
    }
}
