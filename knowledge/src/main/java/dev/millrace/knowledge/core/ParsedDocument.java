package dev.millrace.knowledge.core;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A document as its text.
 *
 * @param title what it calls itself; {@code null} = nothing
 * @param sections in their order
 */
public record ParsedDocument(@Nullable String title, List<Section> sections) {
    public ParsedDocument {
        sections = List.copyOf(sections);
    }

    /** All of it, paragraphs apart by an empty line. */
    public String text() {
        return sections.stream()
                .flatMap(section -> Stream.concat(
                        section.path().isEmpty()
                                ? Stream.empty()
                                : Stream.of(section.path().getLast()),
                        section.blocks().stream().map(Section.Block::text)))
                .collect(Collectors.joining("\n\n"));
    }
}
