package dev.millrace.agent;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds passages of documents that have to do with a question. For any thread; waits. */
@FunctionalInterface
public interface Passages {

    /** There are no documents. */
    Passages NONE = wanted -> List.of();

    /**
     * What is looked for.
     *
     * @param namespace nothing of another one is found
     * @param collection {@code null} = in all of the namespace
     * @param limit at most so many
     */
    record Wanted(String namespace, @Nullable String collection, String question, int limit) {}

    /**
     * A passage.
     *
     * @param title of its document
     * @param source where that is from
     * @param section the headings above it, from the outermost to its own; empty = none
     */
    record Passage(String title, String source, List<String> section, String text) {
        public Passage {
            section = List.copyOf(section);
        }

        /** By which it is named in a list of sources. */
        public String named() {
            return title + (section.isEmpty() ? "" : ", " + section.getLast()) + " (" + source + ")";
        }
    }

    /** Passages, the best first; empty if there are none, or if nobody can look for them now. */
    List<Passage> find(Wanted wanted) throws InterruptedException;
}
