package dev.millrace.knowledge.core;

import dev.millrace.knowledge.core.Section.Block;
import java.text.BreakIterator;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Cuts documents into chunks. The same document gives the same chunks. */
public final class Chunker {

    private static final String PARAGRAPH_BREAK = "\n\n";
    private static final int MAX_HEADING = 300;

    private final ChunkSettings chunking;

    public Chunker(ChunkSettings chunking) {
        this.chunking = chunking;
    }

    /** The chunks of a document, in their order; none if there is no text. */
    public List<Chunk> chunks(ParsedDocument document) {
        return chunks(document, Integer.MAX_VALUE);
    }

    /** The first chunks of a document, at most so many: chunks that overlap may be far more text than there is. */
    public List<Chunk> chunks(ParsedDocument document, int most) {
        List<Chunk> chunks = new ArrayList<>();
        switch (chunking.strategy()) {
            case HEADINGS ->
                document.sections().forEach(section -> {
                    List<String> path =
                            section.path().stream().map(Chunker::shortened).toList();
                    pack(pieces(section), PARAGRAPH_BREAK, most - chunks.size())
                            .forEach(text -> add(chunks, path, text));
                });
            case PARAGRAPH ->
                pack(paragraphs(document), PARAGRAPH_BREAK, most).forEach(text -> add(chunks, List.of(), text));
            case SENTENCE ->
                pack(
                                sentences(document.text()).stream()
                                        .flatMap(sentence -> fitting(sentence).stream())
                                        .toList(),
                                " ",
                                most)
                        .forEach(text -> add(chunks, List.of(), text));
            case FIXED -> pack(words(document.text()), " ", most).forEach(text -> add(chunks, List.of(), text));
        }
        return chunks;
    }

    private static void add(List<Chunk> chunks, List<String> section, String text) {
        chunks.add(new Chunk(chunks.size(), section, text.strip()));
    }

    /** A heading as each chunk below it has it. */
    private static String shortened(String heading) {
        if (heading.length() <= MAX_HEADING) {
            return heading;
        }
        int end = MAX_HEADING - 1;
        return heading.substring(0, Character.isHighSurrogate(heading.charAt(end - 1)) ? end - 1 : end) + '…';
    }

    private List<String> pieces(Section section) {
        List<String> pieces = new ArrayList<>();
        for (Block block : section.blocks()) {
            switch (block) {
                case Block.Paragraph(String text) -> pieces.addAll(fitting(text));
                case Block.Table table -> pieces.addAll(rows(table));
            }
        }
        return pieces;
    }

    /** A table in pieces that each have the names of its columns, unless these leave the rows too little room. */
    private List<String> rows(Block.Table table) {
        String names = table.header().isEmpty() ? "" : Block.Table.row(table.header()) + '\n';
        boolean large = names.length() > chunking.maxChars() / 2;
        String header = large ? "" : names;
        List<String> pieces = new ArrayList<>();
        if (large) {
            pieces.add(names);
        }
        StringBuilder piece = new StringBuilder();
        for (List<String> cells : table.rows()) {
            String row = Block.Table.row(cells);
            if (!piece.isEmpty() && header.length() + piece.length() + row.length() > chunking.maxChars()) {
                pieces.add(header + piece.toString().stripTrailing());
                piece.setLength(0);
            }
            piece.append(row).append('\n');
        }
        if (!piece.isEmpty()) {
            pieces.add(header + piece.toString().stripTrailing());
        }
        return pieces.stream().flatMap(text -> fitting(text).stream()).toList();
    }

    private List<String> paragraphs(ParsedDocument document) {
        List<String> paragraphs = new ArrayList<>();
        for (String paragraph : document.text().split("\n\\s*\n", -1)) {
            paragraphs.addAll(fitting(paragraph.strip()));
        }
        return paragraphs;
    }

    /** A text as it is if it fits, else its sentences, or its words. */
    private List<String> fitting(String text) {
        if (text.length() <= chunking.maxChars()) {
            return List.of(text);
        }
        List<String> fitting = new ArrayList<>();
        for (String sentence : sentences(text)) {
            fitting.addAll(sentence.length() <= chunking.maxChars() ? List.of(sentence) : packed(words(sentence)));
        }
        return packed(fitting);
    }

    private List<String> packed(List<String> parts) {
        return new Chunker(new ChunkSettings(chunking.strategy(), chunking.size(), 0))
                .pack(parts, " ", Integer.MAX_VALUE);
    }

    private static List<String> sentences(String text) {
        return split(text, BreakIterator.getSentenceInstance(Locale.ROOT));
    }

    private List<String> words(String text) {
        List<String> words = new ArrayList<>();
        for (String word : text.split("\\s+", -1)) {
            // what has no blanks at all is cut somewhere
            for (int from = 0; from < word.length(); from += chunking.maxChars()) {
                words.add(word.substring(from, Math.min(word.length(), from + chunking.maxChars())));
            }
        }
        return words;
    }

    private static List<String> split(String text, BreakIterator breaks) {
        List<String> parts = new ArrayList<>();
        breaks.setText(text);
        int from = breaks.first();
        for (int to = breaks.next(); to != BreakIterator.DONE; to = breaks.next()) {
            String part = text.substring(from, to).strip();
            if (!part.isEmpty()) {
                parts.add(part);
            }
            from = to;
        }
        return parts;
    }

    /**
     * Puts parts together while they fit; each chunk begins with the last parts of the one before it. None is blank,
     * and there are at most so many.
     */
    private List<String> pack(List<String> parts, String between, int most) {
        List<String> chunks = new ArrayList<>();
        int from = 0;
        int to = 0;
        int length = 0;
        while (to < parts.size() && chunks.size() < most) {
            int more = parts.get(to).length() + (to == from ? 0 : between.length());
            if (to > from && length + more > chunking.maxChars()) {
                add(chunks, String.join(between, parts.subList(from, to)));
                from = overlapStart(parts, from, to, between);
                length = joinedLength(parts, from, to, between);
                // the overlap gives way to a part that is large
                while (from < to && length + parts.get(to).length() + between.length() > chunking.maxChars()) {
                    length -= parts.get(from).length() + (from + 1 == to ? 0 : between.length());
                    from++;
                }
            } else {
                length += more;
                to++;
            }
        }
        if (to > from && chunks.size() < most) {
            add(chunks, String.join(between, parts.subList(from, to)));
        }
        return chunks;
    }

    private static void add(List<String> texts, String text) {
        if (!text.isBlank()) {
            texts.add(text);
        }
    }

    private int overlapStart(List<String> parts, int from, int to, String between) {
        int start = to;
        int length = 0;
        while (start - 1 > from) {
            length += parts.get(start - 1).length() + between.length();
            if (length > chunking.overlapChars()) {
                break;
            }
            start--;
        }
        return start;
    }

    private static int joinedLength(List<String> parts, int from, int to, String between) {
        int length = 0;
        for (int i = from; i < to; i++) {
            length += parts.get(i).length() + (i == from ? 0 : between.length());
        }
        return length;
    }
}
