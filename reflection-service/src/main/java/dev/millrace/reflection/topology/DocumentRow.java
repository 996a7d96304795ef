package dev.millrace.reflection.topology;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.schemas.MemoryDocument;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the store knows of a document.
 *
 * @param version of the newest change, 1 or more
 * @param content as it is now; {@code null} = it is gone
 * @param updatedAt when it was changed, RFC 3339
 * @param updatedBy who changed it
 * @param changeId id of the call or edit that did
 * @param edits the last ones by people, the oldest first, so that one that is asked for again is not done again
 */
record DocumentRow(
        long version,
        @Nullable String content,
        String updatedAt,
        String updatedBy,
        String changeId,
        List<AppliedEdit> edits) {

    /** So many edits are remembered. */
    private static final int REMEMBERED = 20;

    /**
     * An edit that was done.
     *
     * @param id the edit
     * @param version that it made
     */
    record AppliedEdit(String id, long version) {}

    DocumentRow {
        edits = List.copyOf(edits);
    }

    @JsonCreator
    static DocumentRow ofJson(
            @JsonProperty("version") long version,
            @JsonProperty("content") @Nullable String content,
            @JsonProperty("updatedAt") String updatedAt,
            @JsonProperty("updatedBy") String updatedBy,
            @JsonProperty("changeId") String changeId,
            @JsonProperty("edits") @Nullable List<AppliedEdit> edits) {
        // rows of before people could edit have none
        return new DocumentRow(version, content, updatedAt, updatedBy, changeId, edits == null ? List.of() : edits);
    }

    /** What names the document as it is now; {@code null} = it is gone. */
    @Nullable
    String tag() {
        return content == null ? null : MemoryDocument.tag(version, changeId);
    }

    /** The version that this edit has made; empty if it was not done, or long ago. */
    Optional<Long> versionOf(String editId) {
        return edits.stream()
                .filter(edit -> edit.id().equals(editId))
                .map(AppliedEdit::version)
                .findFirst();
    }

    /** The same, which remembers that its version is the work of this edit. */
    DocumentRow remembering(String editId) {
        List<AppliedEdit> all = new ArrayList<>(edits);
        all.add(new AppliedEdit(editId, version));
        return new DocumentRow(
                version,
                content,
                updatedAt,
                updatedBy,
                changeId,
                all.subList(Math.max(0, all.size() - REMEMBERED), all.size()));
    }
}
