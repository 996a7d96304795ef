package dev.millrace.knowledge.ingest;

import dev.millrace.knowledge.core.ParsedDocument;
import dev.millrace.knowledge.core.Section;
import dev.millrace.knowledge.core.Section.Block;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.jsoup.nodes.Node;
import org.jsoup.nodes.TextNode;
import org.jspecify.annotations.Nullable;

/** A web page as sections; what is there for its looks, for its scripts or for finding the way is left out. */
final class HtmlParser {

    private static final Set<String> LEFT_OUT =
            Set.of("script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form", "svg");
    private static final int MAX_LEVEL = 6;

    private final List<Section> sections = new ArrayList<>();
    private final @Nullable String[] headings = new @Nullable String[MAX_LEVEL];
    private final List<Block> blocks = new ArrayList<>();
    private final StringBuilder paragraph = new StringBuilder();

    private HtmlParser() {}

    static ParsedDocument parse(Document page) {
        HtmlParser parser = new HtmlParser();
        Element main = page.selectFirst("main, article");
        parser.children(main == null ? page.body() : main);
        parser.endSection();
        Element heading = page.selectFirst("h1");
        String title = page.title().isBlank() ? (heading == null ? "" : heading.text()) : page.title();
        return new ParsedDocument(title.isBlank() ? null : title, parser.sections);
    }

    private void children(Element parent) {
        for (Node node : parent.childNodes()) {
            if (node instanceof TextNode text) {
                paragraph.append(text.text());
            } else if (node instanceof Element element && !LEFT_OUT.contains(element.normalName())) {
                element(element);
            }
        }
    }

    private void element(Element element) {
        String name = element.normalName();
        switch (name) {
            case "h1", "h2", "h3", "h4", "h5", "h6" -> {
                endSection();
                int level = name.charAt(1) - '0';
                headings[level - 1] = element.text();
                for (int below = level; below < MAX_LEVEL; below++) {
                    headings[below] = null;
                }
            }
            case "table" -> {
                endParagraph();
                table(element);
            }
            case "pre" -> {
                endParagraph();
                paragraph.append(element.wholeText());
                endParagraph();
            }
            case "br" -> paragraph.append('\n');
            case "li", "dt", "dd" -> {
                paragraph.append('\n');
                children(element);
            }
            default -> {
                boolean apart = element.isBlock();
                if (apart) {
                    endParagraph();
                }
                children(element);
                if (apart) {
                    endParagraph();
                }
            }
        }
    }

    private void table(Element table) {
        List<String> header = List.of();
        List<List<String>> rows = new ArrayList<>();
        for (Element row : table.select("tr")) {
            List<String> cells = row.select("th, td").eachText();
            if (rows.isEmpty() && header.isEmpty() && row.selectFirst("td") == null) {
                header = cells;
            } else if (!cells.isEmpty()) {
                rows.add(cells);
            }
        }
        blocks.add(new Block.Table(header, rows));
    }

    private void endParagraph() {
        String text = paragraph.toString().strip();
        if (!text.isEmpty()) {
            blocks.add(new Block.Paragraph(text));
        }
        paragraph.setLength(0);
    }

    private void endSection() {
        endParagraph();
        if (!blocks.isEmpty()) {
            List<String> path = new ArrayList<>();
            for (String heading : headings) {
                if (heading != null) {
                    path.add(heading);
                }
            }
            sections.add(new Section(path, blocks));
        }
        blocks.clear();
    }
}
