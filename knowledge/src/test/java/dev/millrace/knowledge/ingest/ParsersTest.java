package dev.millrace.knowledge.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.knowledge.core.ParsedDocument;
import dev.millrace.knowledge.core.Section;
import dev.millrace.knowledge.core.Section.Block;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages and text, also such as were made to do harm. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ParsersTest {

    private static final int DEEP = 50_000;

    @Test
    @DisplayName("F-295: a page becomes its headings, paragraphs, lists and tables, without what leads through it")
    void shouldReadAPage() throws Exception {
        assertThat(parse("mill.html", """
                        <html><head><title>The mill</title><style>p {}</style></head><body>
                        <nav><p>Home</p></nav>
                        <main>before<p>It <b>turns</b>.<br>Slowly.</p>between
                        <h1>The <i>wheel</i></h1>
                        <div>outside<div>inside<span> too</span></div>behind</div>
                        <ul><li>axle<li>weir <ul><li>sluice</ul></ul>
                        <script>turn()</script><form>Name</form>
                        <h3>Deep</h3><pre>a
                          b</pre>
                        <h2>Parts</h2><p></p>
                        <table><tr><th>part<th>age<tr><td>axle<td>9</table>
                        <dl><dt>weir<dd>leaks</dl><!-- no text -->
                        </main><footer>bye</footer></body></html>
                        """))
                .isEqualTo(new ParsedDocument(
                        "The mill",
                        List.of(
                                section(List.of(), "before", "It turns.\nSlowly.", "between"),
                                section(
                                        List.of("The wheel"),
                                        "outside",
                                        "inside too",
                                        "behind",
                                        "axle\nweir",
                                        "sluice"),
                                section(List.of("The wheel", "Deep"), "a\n  b"),
                                new Section(
                                        List.of("The wheel", "Parts"),
                                        List.of(
                                                new Block.Table(List.of("part", "age"), List.of(List.of("axle", "9"))),
                                                new Block.Paragraph("weir\nleaks"))))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"<div>", "<span>", "<ul><li>", "<blockquote>", "<custom-element>", "<b>", "<table><tr><td>"})
    @DisplayName("a page is read however deep its elements lie in each other")
    void shouldReadAPageOfAnyDepth(String element) throws Exception {
        ParsedDocument parsed = parse("a.html", "<html><body>" + element.repeat(DEEP) + "The wheel turns.");
        assertThat(parsed.text()).contains("The wheel turns.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.html", "a.md", "a.txt", "a"})
    @DisplayName("pages and text are read within the bounds of all documents")
    void shouldBoundPagesAndText(String name) throws Exception {
        String text = "<html>The wheel turns.</html>";
        int chars = (name.endsWith("html") || name.equals("a") ? "The wheel turns." : text).length() + 1;
        Duration time = Parsers.Bounds.DEFAULT.time();
        assertThat(Parsers.parse(fetched(name, text), new Parsers.Bounds(time, chars))
                        .text())
                .contains("turns");
        assertRefused(fetched(name, text), new Parsers.Bounds(time, chars - 1), "document_too_large");
        assertRefused(
                fetched(name, text.repeat(100_000)),
                new Parsers.Bounds(Duration.ZERO, Integer.MAX_VALUE),
                "parse_timeout");
    }

    @Test
    void shouldReadATableInATableOnce() throws Exception {
        String row = "<table><tr><td>wheel<td><table><tr><th>part<th>age<tr><td>axle<td>9</table><tr><td>weir</table>";
        assertThat(parse("a.html", "<html>" + row).sections())
                .containsExactly(new Section(
                        List.of(),
                        List.of(new Block.Table(
                                List.of(), List.of(List.of("wheel", "part age axle 9"), List.of("weir"))))));
    }

    @Test
    @DisplayName("a document that is more than its reader has room for cannot be read")
    void shouldRefuseWhatOverflowsItsReader() {
        assertThatThrownBy(() -> Parsers.bounded(Parsers.Bounds.DEFAULT, budget -> {
                    throw new StackOverflowError();
                }))
                .isInstanceOfSatisfying(
                        IngestException.class, e -> assertThat(e.code()).isEqualTo("unreadable"));
    }

    private static void assertRefused(Fetcher.Fetched fetched, Parsers.Bounds bounds, String code) {
        assertThatThrownBy(() -> Parsers.parse(fetched, bounds))
                .isInstanceOfSatisfying(
                        IngestException.class, e -> assertThat(e.code()).isEqualTo(code));
    }

    private static ParsedDocument parse(String name, String text) throws Exception {
        return Parsers.parse(fetched(name, text));
    }

    private static Fetcher.Fetched fetched(String name, String text) {
        return new Fetcher.Fetched(name, null, text.getBytes(StandardCharsets.UTF_8));
    }

    private static Section section(List<String> path, String... paragraphs) {
        return new Section(
                path, Arrays.stream(paragraphs).<Block>map(Block.Paragraph::new).toList());
    }
}
