package dev.millrace.schemas;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A document of memory as it lies on the compacted {@code memory} topic. The record key {@code namespace/path} has the
 * document as it is now, {@code namespace/path@version} an older version of it that is kept; no value = it is gone.
 *
 * @param namespace whose it is
 * @param path {@code facts/<name>.md} or {@code episodes/YYYY-MM.md}
 * @param version 1 for the first one; each change has the next number, also after the document was gone for a while
 * @param content markdown
 * @param summary what its line {@code > Summary:} says; empty if it has none
 * @param size of the content, in bytes of UTF-8
 * @param updatedAt when it was written
 * @param updatedBy who wrote it: {@code task <id>}, {@code reflection <id of the task>} or {@code people}
 * @param changeId id of the call or edit that wrote it
 */
public record MemoryDocument(
        String namespace,
        String path,
        long version,
        String content,
        String summary,
        long size,
        String updatedAt,
        String updatedBy,
        String changeId) {

    /** Stands before the version in the key of an older version. No path has it. */
    public static final char VERSION_MARK = '@';

    /** What this is a version of, and which one. */
    public record Key(
            String namespace, String path, @Nullable Long version) {

        /** Reads a record's key; {@code null} if it is none of memory. */
        public static @Nullable Key of(String key) {
            int slash = key.indexOf('/');
            int mark = key.lastIndexOf(VERSION_MARK);
            if (slash < 1 || (mark >= 0 && mark < slash)) {
                return null;
            }
            String namespace = key.substring(0, slash);
            if (mark < 0) {
                return new Key(namespace, key.substring(slash + 1), null);
            }
            try {
                return new Key(namespace, key.substring(slash + 1, mark), Long.valueOf(key.substring(mark + 1)));
            } catch (NumberFormatException e) {
                return null;
            }
        }
    }

    /** The record key of a document as it is now. */
    public static String key(String namespace, String path) {
        return namespace + '/' + path;
    }

    /** The record key of an older version of a document. */
    public static String key(String namespace, String path, long version) {
        return key(namespace, path) + VERSION_MARK + version;
    }

    /** When it was written. */
    public Instant updated() {
        return Instant.parse(updatedAt);
    }

    /** The value of its record. */
    public byte[] toJson() {
        return Json.write(this);
    }

    /**
     * Reads a record's value.
     *
     * @throws MalformedEventException with code {@code bad_definition} if it is no document
     */
    public static MemoryDocument fromJson(byte[] value) throws MalformedEventException {
        try {
            MemoryDocument document = Json.MAPPER.readValue(value, MemoryDocument.class);
            if (document == null) {
                throw new MalformedEventException("bad_definition", "expected a document of memory, found null");
            }
            return document;
        } catch (JsonProcessingException e) {
            throw new MalformedEventException(
                    "bad_definition", "expected a document of memory: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new MalformedEventException("bad_definition", "expected a document of memory: " + e.getMessage());
        }
    }

    @JsonCreator
    static MemoryDocument ofJson(
            @JsonProperty("namespace") @Nullable String namespace,
            @JsonProperty("path") @Nullable String path,
            @JsonProperty("version") long version,
            @JsonProperty("content") @Nullable String content,
            @JsonProperty("summary") @Nullable String summary,
            @JsonProperty("size") long size,
            @JsonProperty("updatedAt") @Nullable String updatedAt,
            @JsonProperty("updatedBy") @Nullable String updatedBy,
            @JsonProperty("changeId") @Nullable String changeId) {
        return new MemoryDocument(
                or(namespace, Event.DEFAULT_NAMESPACE),
                or(path, ""),
                version,
                or(content, ""),
                or(summary, ""),
                size,
                or(updatedAt, Instant.EPOCH.toString()),
                or(updatedBy, ""),
                or(changeId, ""));
    }

    private static String or(@Nullable String value, String other) {
        return value == null ? other : value;
    }
}
