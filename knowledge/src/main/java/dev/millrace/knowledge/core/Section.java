package dev.millrace.knowledge.core;

import java.util.List;

/**
 * What stands below one heading, and above the next.
 *
 * @param path the headings above it, from the outermost to its own; empty = none
 * @param blocks in their order
 */
public record Section(List<String> path, List<Block> blocks) {
    public Section {
        path = List.copyOf(path);
        blocks = List.copyOf(blocks);
    }

    /** A piece of a document that is better not cut. */
    public sealed interface Block {

        /** It as plain text. */
        String text();

        /** Lines that belong together. */
        record Paragraph(String text) implements Block {}

        /**
         * A table.
         *
         * @param header names of its columns; empty = they have none
         * @param rows cells, as many as there are in each
         */
        record Table(List<String> header, List<List<String>> rows) implements Block {
            public Table {
                header = List.copyOf(header);
                rows = rows.stream().map(List::copyOf).toList();
            }

            @Override
            public String text() {
                StringBuilder text = new StringBuilder();
                if (!header.isEmpty()) {
                    text.append(row(header)).append('\n');
                }
                rows.forEach(cells -> text.append(row(cells)).append('\n'));
                return text.toString().stripTrailing();
            }

            /** Cells as one line. */
            public static String row(List<String> cells) {
                return String.join(" | ", cells);
            }
        }
    }
}
