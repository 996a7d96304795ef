package dev.millrace.reflection.core;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Documents in this JVM's memory, each changed at the time that the test says, or at none. */
final class HeldDocuments implements Documents {

    private final SortedMap<MemoryPath, Document> documents = new TreeMap<>();

    void put(String path, String content) {
        put(path, content, 0);
    }

    void put(String path, String content, long updatedAtMs) {
        documents.put(new MemoryPath(path), new Document(new MemoryPath(path), content, updatedAtMs));
    }

    @Override
    public @Nullable String content(MemoryPath path) {
        Document document = documents.get(path);
        return document == null ? null : document.content();
    }

    @Override
    public void each(@Nullable MemoryPath after, Taker taker) {
        for (Map.Entry<MemoryPath, Document> entry : documents.entrySet()) {
            boolean behind = after == null || entry.getKey().compareTo(after) > 0;
            if (behind && !taker.take(entry.getValue())) {
                return;
            }
        }
    }

    @Override
    public Extent extent() {
        return new Extent(
                documents.size(),
                documents.values().stream()
                        .mapToLong(document -> Markdown.size(document.content()))
                        .sum());
    }
}
