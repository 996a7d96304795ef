package dev.millrace.agent;

import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.MemoryDocument;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the documents of memory are about, as the memory topic has it; their contents are not kept. Safe for any thread.
 */
public final class MemoryIndex {

    private static final int KILO = 1024;
    /** What of a large memory is shown before everything else. */
    private static final List<String> FIRST = List.of("facts/user.md", "facts/memory.md");

    /** How many characters of what tasks were shown are kept, by all tasks together. */
    private static final int MAX_KEPT = 16_000_000;
    /** What is kept of a task beside the text, in characters. */
    private static final int TASK = 200;

    private final int maxBytes;
    private final Map<String, Map<String, Line>> lines = new ConcurrentHashMap<>();
    private final Map<Reader, String> kept = new LinkedHashMap<>(16, 0.75f, true);
    private long keptChars;

    private record Reader(String namespace, String taskId) {}

    /**
     * A document.
     *
     * @param text as a model is shown it
     */
    private record Line(String path, String text, Instant updatedAt) {

        static final Comparator<Line> BY_RANK = Comparator.comparingInt(Line::rank)
                .thenComparing(Comparator.comparing(Line::updatedAt).reversed())
                .thenComparing(Line::path);

        private int rank() {
            int at = FIRST.indexOf(path);
            return at < 0 ? FIRST.size() : at;
        }

        /** With the end of its line. */
        int bytes() {
            return text.getBytes(StandardCharsets.UTF_8).length + 1;
        }
    }

    /**
     * An index of nothing.
     *
     * @param maxBytes of UTF-8 that a model is shown of the documents of a namespace, 1 or more
     * @throws IllegalArgumentException if that is less
     */
    public MemoryIndex(int maxBytes) {
        if (maxBytes < 1) {
            throw new IllegalArgumentException(
                    "millrace.agent.memory-index-bytes: expected 1 or more, found " + maxBytes);
        }
        this.maxBytes = maxBytes;
    }

    /** Takes the records of a namespace; the id is the path, and older versions are passed over. */
    public DefinitionTaker of(String namespace) {
        return new DefinitionTaker() {
            @Override
            public void take(String id, byte @Nullable [] value) throws MalformedEventException {
                MemoryIndex.this.take(namespace, id, value);
            }

            @Override
            public void beginAnew() {
                lines.remove(namespace);
                drop(namespace);
            }
        };
    }

    /** There is nothing in memory, as at the beginning. */
    public synchronized void clear() {
        lines.clear();
        kept.clear();
        keptChars = 0;
    }

    /**
     * What the model of a task is shown: {@link #text} as it was at the first call, so that the later ones begin with
     * the same bytes. It is looked up again after a document was removed, and for a task whose first call was made
     * elsewhere or so long ago that it is not kept.
     *
     * @param isFirst whether the task has just begun, or gone on from completed
     */
    public synchronized Optional<String> text(String namespace, String taskId, boolean isFirst) {
        Reader reader = new Reader(namespace, taskId);
        String text = isFirst ? null : kept.get(reader);
        if (text == null) {
            text = text(namespace).orElse("");
            keep(reader, text);
        }
        return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }

    private void keep(Reader reader, String text) {
        String before = kept.put(reader, text);
        keptChars += before == null ? TASK + text.length() : text.length() - before.length();
        Iterator<String> eldest = kept.values().iterator();
        while (keptChars > MAX_KEPT) {
            keptChars -= TASK + eldest.next().length();
            eldest.remove();
        }
    }

    private synchronized void drop(String namespace) {
        kept.entrySet().removeIf(entry -> {
            boolean gone = entry.getKey().namespace().equals(namespace);
            keptChars -= gone ? TASK + entry.getValue().length() : 0;
            return gone;
        });
    }

    /**
     * What there is to read in a namespace; empty if memory is. Where there are more lines than fit, those of the user
     * and of {@code facts/memory.md} are shown and then those that were changed last, by path, and how many more there
     * are.
     */
    Optional<String> text(String namespace) {
        Map<String, Line> documents = lines.getOrDefault(namespace, Map.of());
        if (documents.isEmpty()) {
            return Optional.empty();
        }
        List<Line> all = List.copyOf(documents.values());
        List<Line> shown = fitting(all);
        String more = shown.size() == all.size()
                ? ""
                : "… and " + (all.size() - shown.size()) + " more documents; memory_list shows them.\n";
        return Optional.of(shown.stream()
                .map(line -> line.text() + '\n')
                .collect(Collectors.joining(
                        "",
                        "[Available memory]\n",
                        more + "Use memory_read to load relevant files before responding.")));
    }

    /** All of them if they fit; else those of the highest rank that do, in their order. */
    private List<Line> fitting(List<Line> all) {
        if (all.stream().mapToLong(Line::bytes).sum() <= maxBytes) {
            return all;
        }
        TreeSet<Line> shown = new TreeSet<>(Comparator.comparing(Line::path));
        int bytes = 0;
        for (Line line : all.stream().sorted(Line.BY_RANK).toList()) {
            bytes += line.bytes();
            if (bytes > maxBytes) {
                break;
            }
            shown.add(line);
        }
        return List.copyOf(shown);
    }

    private void take(String namespace, String path, byte @Nullable [] value) throws MalformedEventException {
        if (path.indexOf(MemoryDocument.VERSION_MARK) >= 0) {
            return;
        }
        Map<String, Line> documents = lines.computeIfAbsent(namespace, name -> new ConcurrentSkipListMap<>());
        if (value == null) {
            if (documents.remove(path) != null) {
                drop(namespace);
            }
        } else {
            MemoryDocument document = MemoryDocument.fromJson(value);
            documents.put(
                    path,
                    new Line(
                            path,
                            "- " + path + " (" + shown(document.size()) + "): " + document.summary(),
                            updatedAt(document)));
        }
    }

    /** Anybody may write to the topic. */
    private static Instant updatedAt(MemoryDocument document) {
        try {
            return document.updated();
        } catch (DateTimeException e) {
            return Instant.EPOCH;
        }
    }

    private static String shown(long bytes) {
        return bytes < KILO ? bytes + "B" : String.format(Locale.ROOT, "%.1fKB", bytes / (double) KILO);
    }
}
