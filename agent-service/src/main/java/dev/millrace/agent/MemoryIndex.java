package dev.millrace.agent;

import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.MemoryDocument;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the documents of memory are about, as the memory topic has it; their contents are not kept. Safe for any thread.
 */
public final class MemoryIndex {

    private static final int KILO = 1024;

    private final Map<String, Map<String, String>> lines = new ConcurrentHashMap<>();

    /** Takes the records of a namespace; the id is the path, and older versions are passed over. */
    public DefinitionTaker of(String namespace) {
        return (id, value) -> take(namespace, id, value);
    }

    /**
     * What a model is shown of a namespace before it reads anything (F-079); empty if memory is.
     */
    public Optional<String> text(String namespace) {
        Map<String, String> documents = lines.getOrDefault(namespace, Map.of());
        return documents.isEmpty()
                ? Optional.empty()
                : Optional.of(documents.values().stream()
                        .collect(Collectors.joining(
                                "\n",
                                "[Available memory]\n",
                                "\nUse memory_read to load relevant files before responding.")));
    }

    private void take(String namespace, String path, byte @Nullable [] value) throws MalformedEventException {
        if (path.indexOf(MemoryDocument.VERSION_MARK) >= 0) {
            return;
        }
        Map<String, String> documents = lines.computeIfAbsent(namespace, name -> new ConcurrentSkipListMap<>());
        if (value == null) {
            documents.remove(path);
        } else {
            MemoryDocument document = MemoryDocument.fromJson(value);
            documents.put(path, "- " + path + " (" + shown(document.size()) + "): " + document.summary());
        }
    }

    private static String shown(long bytes) {
        return bytes < KILO ? bytes + "B" : String.format(Locale.ROOT, "%.1fKB", bytes / (double) KILO);
    }
}
