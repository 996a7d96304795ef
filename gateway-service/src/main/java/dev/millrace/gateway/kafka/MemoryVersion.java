package dev.millrace.gateway.kafka;

/**
 * One version of a document of memory, without its content.
 *
 * @param path of the document
 * @param version its number, 1 or more
 * @param tag names this version among all that ever were at this path: an entity tag without quotes
 * @param summary what its summary line says; may be empty
 * @param size of the content, in bytes of UTF-8
 * @param updatedAt when it was written, RFC 3339
 * @param updatedBy who wrote it
 * @param deleted whether it is that the document was taken away
 */
public record MemoryVersion(
        String path,
        long version,
        String tag,
        String summary,
        long size,
        String updatedAt,
        String updatedBy,
        boolean deleted) {}
