package dev.millrace.schemas;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
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
 * @param updatedBy who wrote it: {@code task <id>}, {@code reflection <id of the task>}, or a person:
 *     {@code person <name>}, {@code person} if they did not say who they are
 * @param changeId id of the call or edit that wrote it
 * @param deleted whether this version is that the document was taken away; only of an older version, and its content is
 *     empty
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
        String changeId,
        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean deleted) {

    /** The largest document of facts, in bytes of UTF-8. */
    public static final int MAX_FACTS_BYTES = 15 * 1024;
    /** The largest document of episodes, in bytes of UTF-8. */
    public static final int MAX_EPISODES_BYTES = 100 * 1024;

    private static final Pattern FACTS = Pattern.compile("facts/[\\p{L}\\p{N}][\\p{L}\\p{N}._ -]{0,80}\\.md");
    private static final Pattern EPISODES = Pattern.compile("episodes/[0-9]{4}-(0[1-9]|1[0-2])\\.md");
    private static final int TAG_HASH = 8;

    /** Why an edit changes nothing. */
    public enum Refusal {
        /** The document is not there, and the edit is to take it away. */
        DOCUMENT_NOT_FOUND,
        /** The document is not as the edit says that it has to be. */
        PRECONDITION_FAILED,
        /** The document would be larger than one may be. */
        DOCUMENT_TOO_LARGE,
        /** The namespace has as many documents, or as many bytes in them, as it may have. */
        MEMORY_FULL;

        /** The word in {@link HeaderNames#OUTCOME}. */
        public String code() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** The refusal of this code; empty if there is none. */
        public static Optional<Refusal> of(String code) {
            return Arrays.stream(values())
                    .filter(refusal -> refusal.code().equals(code))
                    .findFirst();
        }
    }

    /** Stands before the version in the key of an older version. No path has it. */
    public static final char VERSION_MARK = '@';

    /** What this is a version of, and which one. */
    public record Key(
            String namespace, String path, @Nullable Long version) {

        /** Reads a record's key; {@code null} if it is none of memory. */
        public static @Nullable Key of(String key) {
            int slash = key.indexOf('/');
            int mark = key.lastIndexOf(VERSION_MARK);
            if (slash < 1) {
                return null;
            }
            String namespace = key.substring(0, slash);
            if (mark < slash) {
                return new Key(namespace, key.substring(slash + 1), null);
            }
            try {
                return new Key(namespace, key.substring(slash + 1, mark), Long.valueOf(key.substring(mark + 1)));
            } catch (NumberFormatException e) {
                return null;
            }
        }
    }

    /** A document that is there. */
    public MemoryDocument(
            String namespace,
            String path,
            long version,
            String content,
            String summary,
            long size,
            String updatedAt,
            String updatedBy,
            String changeId) {
        this(namespace, path, version, content, summary, size, updatedAt, updatedBy, changeId, false);
    }

    /** Whether this is a place in memory, in the one form that a document's path has. */
    public static boolean isPath(String text) {
        return EPISODES.matcher(text).matches() || (FACTS.matcher(text).matches() && !text.contains(".."));
    }

    /** How large the document at this place may be, in bytes of UTF-8. */
    public static int maxBytes(String path) {
        return path.startsWith("facts/") ? MAX_FACTS_BYTES : MAX_EPISODES_BYTES;
    }

    /**
     * Names one version of one document among all that ever were at its place, also after memory was forgotten and
     * numbers begin anew: an entity tag as HTTP has it, without quotes.
     */
    public static String tag(long version, String changeId) {
        return version + "-" + Ids.hash(changeId).substring(0, TAG_HASH);
    }

    /** {@link #tag(long, String)} of this one. */
    public String tag() {
        return tag(version, changeId);
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
            @JsonProperty("changeId") @Nullable String changeId,
            @JsonProperty("deleted") boolean deleted) {
        return new MemoryDocument(
                or(namespace, Event.DEFAULT_NAMESPACE),
                or(path, ""),
                version,
                or(content, ""),
                or(summary, ""),
                size,
                or(updatedAt, Instant.EPOCH.toString()),
                or(updatedBy, ""),
                or(changeId, ""),
                deleted);
    }

    private static String or(@Nullable String value, String other) {
        return value == null ? other : value;
    }
}
