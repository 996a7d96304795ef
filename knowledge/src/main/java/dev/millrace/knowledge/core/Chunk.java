package dev.millrace.knowledge.core;

import java.util.List;

/**
 * A piece of a document that is found as one.
 *
 * @param number from 0
 * @param section the headings above it; empty = none
 * @param text of it, not blank
 */
public record Chunk(int number, List<String> section, String text) {
    public Chunk {
        section = List.copyOf(section);
    }

    /** What is embedded: the text below the title and the headings that say what it is about. */
    public String inContext(String title) {
        StringBuilder context = new StringBuilder(title);
        for (String heading : section) {
            if (!heading.equals(title)) {
                context.append(" > ").append(heading);
            }
        }
        return context.append('\n').append(text).toString();
    }
}
