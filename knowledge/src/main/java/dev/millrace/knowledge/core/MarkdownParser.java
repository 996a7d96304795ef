package dev.millrace.knowledge.core;

import dev.millrace.knowledge.core.Section.Block;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Markdown as sections: headings (of the kind with {@code #}), paragraphs, lists, code and tables. Marks of emphasis
 * and the targets of links are left out, since nobody asks for them.
 */
public final class MarkdownParser {

    /** Linear in the length of a line: no part of it takes what could also begin the part after it. */
    private static final Pattern LINK = Pattern.compile("!?\\[([^\\]\\[]*)\\]\\([^()\\s]*(?:\\s+\"[^\"]*\")?\\)");

    private static final int MAX_LEVEL = 6;
    /** What stands in the line below the names of a table's columns. */
    private static final String OF_DIVIDERS = "-:| \t";

    private static final List<String> FENCES = List.of("```", "~~~");

    private final List<Section> sections = new ArrayList<>();
    private final @Nullable String[] headings = new @Nullable String[MAX_LEVEL];
    private final List<Block> blocks = new ArrayList<>();
    private final StringBuilder paragraph = new StringBuilder();
    private @Nullable String title;

    private MarkdownParser() {}

    /** The document in this text. */
    public static ParsedDocument parse(String text) {
        return new MarkdownParser().read(text.lines().toList());
    }

    private ParsedDocument read(List<String> lines) {
        int from = frontMatterEnd(lines);
        for (int i = from; i < lines.size(); i++) {
            String line = lines.get(i);
            String fence = fence(line);
            int level = level(line);
            if (fence != null) {
                i = code(lines, i, fence);
            } else if (level > 0) {
                endSection();
                begin(level, plain(heading(line, level)));
            } else if (isTable(lines, i)) {
                i = table(lines, i);
            } else if (line.isBlank()) {
                endParagraph();
            } else {
                paragraph.append(plain(line)).append('\n');
            }
        }
        endSection();
        return new ParsedDocument(title, sections);
    }

    private static int frontMatterEnd(List<String> lines) {
        if (lines.isEmpty() || !lines.getFirst().strip().equals("---")) {
            return 0;
        }
        for (int i = 1; i < lines.size(); i++) {
            if (lines.get(i).strip().equals("---")) {
                return i + 1;
            }
        }
        return 0;
    }

    /** What the code below this line ends with; {@code null} = no code begins here. */
    private static @Nullable String fence(String line) {
        String bare = line.stripLeading();
        return FENCES.stream().filter(bare::startsWith).findFirst().orElse(null);
    }

    /** How deep the heading in this line is; 0 = it is none. */
    private static int level(String line) {
        int level = 0;
        while (level < line.length() && line.charAt(level) == '#') {
            level++;
        }
        boolean apart = level < line.length() && Character.isWhitespace(line.charAt(level));
        return apart && level <= MAX_LEVEL ? level : 0;
    }

    /** The text of a heading, without the marks on both sides of it. */
    private static String heading(String line, int level) {
        String text = line.substring(level).stripLeading();
        int end = text.length();
        while (end > 0 && text.charAt(end - 1) == '#') {
            end--;
        }
        return text.substring(0, end).stripTrailing();
    }

    private void begin(int level, String heading) {
        if (title == null) {
            title = heading;
        }
        headings[level - 1] = heading;
        for (int below = level; below < MAX_LEVEL; below++) {
            headings[below] = null;
        }
    }

    private int code(List<String> lines, int begin, String fence) {
        endParagraph();
        int i = begin + 1;
        for (; i < lines.size() && !lines.get(i).strip().startsWith(fence); i++) {
            paragraph.append(lines.get(i)).append('\n');
        }
        endParagraph();
        return i;
    }

    private static boolean isTable(List<String> lines, int i) {
        return lines.get(i).contains("|") && i + 1 < lines.size() && isDivider(lines.get(i + 1));
    }

    /** Whether a line divides the names of a table's columns from its rows: dashes, and a bar after one of them. */
    private static boolean isDivider(String line) {
        int dash = line.indexOf('-');
        return dash >= 0 && line.lastIndexOf('|') > dash && line.chars().allMatch(c -> OF_DIVIDERS.indexOf(c) >= 0);
    }

    private int table(List<String> lines, int begin) {
        endParagraph();
        List<List<String>> rows = new ArrayList<>();
        int i = begin + 2;
        for (; i < lines.size() && lines.get(i).contains("|"); i++) {
            rows.add(cells(lines.get(i)));
        }
        blocks.add(new Block.Table(cells(lines.get(begin)), rows));
        return i - 1;
    }

    private static List<String> cells(String line) {
        String bare = line.strip();
        bare = bare.startsWith("|") ? bare.substring(1) : bare;
        bare = bare.endsWith("|") && !bare.endsWith("\\|") ? bare.substring(0, bare.length() - 1) : bare;
        List<String> cells = new ArrayList<>();
        for (String cell : bare.split("(?<!\\\\)\\|", -1)) {
            cells.add(plain(cell.replace("\\|", "|")).strip());
        }
        return cells;
    }

    /** A line without its marks. */
    static String plain(String line) {
        String bare = LINK.matcher(line).replaceAll("$1");
        return bare.replace("`", "").replace("**", "").replace("__", "");
    }

    private void endParagraph() {
        if (!paragraph.toString().isBlank()) {
            blocks.add(new Block.Paragraph(paragraph.toString().stripTrailing()));
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
