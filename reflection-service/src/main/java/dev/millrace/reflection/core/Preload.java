package dev.millrace.reflection.core;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a reflection is shown of memory at its start: facts whole, and the index of episodes. Where that would be too
 * much, the facts about the user and {@code facts/memory.md} come first, then those that were changed last; of the rest
 * there is the index as far as it goes, and the tools.
 *
 * @param text for the model
 * @param partial whether memory held more than the text says
 */
record Preload(String text, boolean partial) {

    /** How much of facts is shown whole, in characters. */
    static final int MAX_FACTS_CHARS = 180_000;
    /** How long the index of episodes may be, and that of facts that are not shown whole; in characters. */
    static final int MAX_INDEX_CHARS = 10_000;

    private static final List<String> FIRST = List.of("facts/user.md", "facts/memory.md");

    /** A document, without its content. */
    private record Entry(MemoryPath path, int chars, String line, long updatedAtMs) {

        static final Comparator<Entry> BY_RANK = Comparator.comparingInt(Entry::rank)
                .thenComparing(Comparator.comparingLong(Entry::updatedAtMs).reversed())
                .thenComparing(Entry::path);

        static Entry of(Documents.Document document) {
            String content = document.content();
            return new Entry(
                    document.path(),
                    content.length(),
                    UnreadDocument.line(document.path().text(), Markdown.size(content), Markdown.summary(content)),
                    document.updatedAtMs());
        }

        private int rank() {
            int at = FIRST.indexOf(path.text());
            return at < 0 ? FIRST.size() : at;
        }
    }

    /** As much as fits of an index, and how many lines of it do not. */
    private record Index(String text, int leftOut) {

        static Index of(List<Entry> entries) {
            StringBuilder text = new StringBuilder();
            int shown = 0;
            for (Entry entry : entries) {
                if (text.length() + entry.line().length() > MAX_INDEX_CHARS) {
                    break;
                }
                text.append(entry.line()).append('\n');
                shown++;
            }
            return new Index(text.toString(), entries.size() - shown);
        }
    }

    static Preload of(Documents documents) {
        List<Entry> facts = new ArrayList<>();
        List<Entry> episodes = new ArrayList<>();
        documents.each(null, document -> {
            if (document.path().isFact()) {
                facts.add(Entry.of(document));
            } else {
                episodes.addFirst(Entry.of(document));
            }
            return true;
        });
        Set<MemoryPath> whole = whole(facts);
        StringBuilder shown = new StringBuilder();
        for (Entry fact : facts) {
            String content = whole.contains(fact.path()) ? documents.content(fact.path()) : null;
            if (content != null) {
                shown.append("### ")
                        .append(fact.path())
                        .append("\n\n")
                        .append(content.strip())
                        .append("\n\n");
            }
        }
        Index others = Index.of(facts.stream()
                .filter(fact -> !whole.contains(fact.path()))
                .sorted(Entry.BY_RANK)
                .toList());
        Index past = Index.of(episodes);
        String text = "## Facts\n\n" + (shown.isEmpty() ? "(none yet)\n\n" : shown)
                + (whole.size() == facts.size()
                        ? ""
                        : "## Facts that are not shown here, the newest first" + note(others) + "\n\n" + others.text()
                                + '\n')
                + "## Episodes, the newest first" + note(past) + "\n\n"
                + (past.text().isEmpty() ? "(none yet)\n" : past.text());
        return new Preload(text, whole.size() < facts.size() || past.leftOut() > 0);
    }

    private static String note(Index index) {
        return index.leftOut() == 0 ? "" : " (and " + index.leftOut() + " more, which memory_list shows)";
    }

    /** The facts that are shown whole: in the order of their rank, as long as they fit. */
    private static Set<MemoryPath> whole(List<Entry> facts) {
        Set<MemoryPath> whole = new HashSet<>();
        int chars = 0;
        for (Entry fact : facts.stream().sorted(Entry.BY_RANK).toList()) {
            chars += fact.chars() + fact.path().text().length();
            if (chars > MAX_FACTS_CHARS) {
                break;
            }
            whole.add(fact.path());
        }
        return whole;
    }
}
