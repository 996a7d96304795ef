package dev.millrace.knowledge.ingest;

import dev.millrace.knowledge.core.ParsedDocument;
import dev.millrace.knowledge.core.Section;
import dev.millrace.knowledge.core.Section.Block;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.jsoup.nodes.Node;
import org.jsoup.nodes.TextNode;
import org.jsoup.select.NodeFilter;
import org.jsoup.select.NodeFilter.FilterResult;
import org.jsoup.select.NodeTraversor;
import org.jspecify.annotations.Nullable;

/** A web page as sections; what is there for its looks, for its scripts or for finding the way is left out. */
final class HtmlParser {

    private static final Set<String> LEFT_OUT =
            Set.of("script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form", "svg");
    /** What begins a line, and no paragraph. */
    private static final Set<String> ITEMS = Set.of("li", "dt", "dd");

    private static final Set<String> CELLS = Set.of("th", "td");
    private static final int MAX_LEVEL = 6;

    private final TextBudget budget;
    private final List<Section> sections = new ArrayList<>();
    private final @Nullable String[] headings = new @Nullable String[MAX_LEVEL];
    private final List<Block> blocks = new ArrayList<>();
    private final StringBuilder paragraph = new StringBuilder();

    private HtmlParser(TextBudget budget) {
        this.budget = budget;
    }

    static ParsedDocument parse(Document page, TextBudget budget) throws IngestException {
        HtmlParser parser = new HtmlParser(budget);
        Element main = page.selectFirst("main, article");
        parser.read(main == null ? page.body() : main);
        Element heading = page.selectFirst("h1");
        String title = page.title().isBlank() ? (heading == null ? "" : heading.text()) : page.title();
        return new ParsedDocument(title.isBlank() ? null : title, parser.sections);
    }

    private void read(Element root) throws IngestException {
        Walk walk = new Walk();
        NodeTraversor.filter(walk, root);
        if (walk.refused != null) {
            throw walk.refused;
        }
        endSection();
    }

    /** Goes through what is below an element, without a call for each level: pages are as deep as they like. */
    private final class Walk implements NodeFilter {
        private @Nullable IngestException refused;

        @Override
        public FilterResult head(Node node, int depth) {
            budget.go();
            try {
                return depth == 0 ? FilterResult.CONTINUE : begin(node);
            } catch (IngestException e) {
                refused = e;
                return FilterResult.STOP;
            }
        }

        @Override
        public FilterResult tail(Node node, int depth) {
            try {
                if (depth > 0 && node instanceof Element element && isApart(element)) {
                    endParagraph();
                }
                return FilterResult.CONTINUE;
            } catch (IngestException e) {
                refused = e;
                return FilterResult.STOP;
            }
        }
    }

    private static boolean isApart(Element element) {
        return element.isBlock() && !ITEMS.contains(element.normalName());
    }

    private FilterResult begin(Node node) throws IngestException {
        if (node instanceof TextNode text) {
            paragraph.append(text.text());
        }
        return node instanceof Element element ? begin(element) : FilterResult.CONTINUE;
    }

    private FilterResult begin(Element element) throws IngestException {
        String name = element.normalName();
        if (LEFT_OUT.contains(name)) {
            return FilterResult.SKIP_ENTIRELY;
        }
        switch (name) {
            case "h1", "h2", "h3", "h4", "h5", "h6" -> {
                endSection();
                int level = name.charAt(1) - '0';
                headings[level - 1] = budget.take(element.text());
                for (int below = level; below < MAX_LEVEL; below++) {
                    headings[below] = null;
                }
                return FilterResult.SKIP_ENTIRELY;
            }
            case "table" -> {
                endParagraph();
                table(element);
                return FilterResult.SKIP_ENTIRELY;
            }
            case "pre" -> {
                endParagraph();
                paragraph.append(element.wholeText());
                endParagraph();
                return FilterResult.SKIP_ENTIRELY;
            }
            case "br" -> paragraph.append('\n');
            default -> {
                if (isApart(element)) {
                    endParagraph();
                } else if (ITEMS.contains(name)) {
                    paragraph.append('\n');
                }
            }
        }
        return FilterResult.CONTINUE;
    }

    /** A table in a cell of another one is part of that cell's text. */
    private void table(Element table) throws IngestException {
        List<String> header = List.of();
        List<List<String>> rows = new ArrayList<>();
        for (Element row : rows(table)) {
            List<String> cells = new ArrayList<>();
            boolean named = true;
            for (Element cell : row.children()) {
                if (CELLS.contains(cell.normalName())) {
                    cells.add(budget.take(cell.text()));
                    named &= cell.normalName().equals("th");
                }
            }
            if (rows.isEmpty() && header.isEmpty() && named) {
                header = cells;
            } else if (!cells.isEmpty()) {
                rows.add(cells);
            }
        }
        blocks.add(new Block.Table(header, rows));
    }

    private static List<Element> rows(Element table) {
        return table.children().stream()
                .flatMap(part -> Stream.concat(Stream.of(part), part.children().stream()))
                .filter(part -> part.normalName().equals("tr"))
                .toList();
    }

    private void endParagraph() throws IngestException {
        String text = paragraph.toString().strip();
        if (!text.isEmpty()) {
            blocks.add(new Block.Paragraph(budget.take(text)));
        }
        paragraph.setLength(0);
    }

    private void endSection() throws IngestException {
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
