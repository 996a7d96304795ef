package dev.millrace.knowledge.index;

import java.util.List;

/**
 * A chunk as the topic has it.
 *
 * @param documentId of its document
 * @param version of the document's chunks that it is one of
 * @param number from 0
 * @param model that made the vector
 * @param vector of length 1; shared, not to be changed
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record StoredChunk(
        String namespace,
        String collection,
        String documentId,
        String version,
        int number,
        String title,
        String source,
        List<String> section,
        String text,
        String model,
        float[] vector) {
    public StoredChunk {
        section = List.copyOf(section);
    }
}
