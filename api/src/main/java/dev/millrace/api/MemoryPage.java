package dev.millrace.api;

import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Some documents of a namespace. */
@Schema(name = "MemoryDocuments")
public record MemoryPage(
        String namespace,

        @Schema(description = "By path.") List<Version> documents,

        @Schema(description = "The cursor of the next page; null = this is the last one.") @Nullable
        String next) {

    /** Some namespaces. */
    @Schema(name = "MemoryNamespaces")
    public record Namespaces(
            @Schema(description = "By name.") List<Namespace> namespaces,

            @Schema(description = "The cursor of the next page; null = this is the last one.") @Nullable
            String next) {}

    /** A namespace. */
    @Schema(name = "MemoryNamespace")
    public record Namespace(
            String namespace,

            @Schema(description = "How many documents it has.")
            int documents,

            @Schema(description = "Of all of them, in bytes.")
            long size) {}

    /** The versions of a document. */
    @Schema(name = "MemoryVersions")
    public record Versions(
            String namespace,
            String path,

            @Schema(description = "Those that are kept, the newest first; the first one is how it is now.")
            List<Version> versions) {}

    /** A version of a document. */
    @Schema(name = "MemoryVersion")
    public record Version(
            @Schema(examples = "facts/user.md") String path,

            @Schema(description = "1 for the first one; each change has the next number.")
            long version,

            @Schema(
                    description = "Its entity tag, quotes included: for If-Match and If-None-Match.",
                    examples = "\"3-9f2c41d7\"")
            String etag,

            @Schema(description = "What its line \"> Summary: …\" says; may be empty.")
            String summary,

            @Schema(description = "In bytes.") long size,

            @Schema(examples = "2026-11-22T09:00:00Z") String updatedAt,

            @Schema(
                    description =
                            "task and its id, reflection and the id of the task, or person and, if they said so, who.",
                    examples = "person ada")
            String updatedBy,

            @Schema(description = "Whether this version is that the document was taken away.")
            boolean deleted) {}

    /** An edit is stored, and is judged when the writer comes to it. */
    @Schema(name = "MemoryEditAccepted", description = "The edit is stored, and is judged when the writer comes to it.")
    public record EditAccepted(
            @Schema(description = "The same as an Idempotency-Key gives what became of it.")
            String eventId,

            @Schema(examples = "accepted") String status,
            String note) {}
}
