package dev.millrace.reflection.topology;

import org.jspecify.annotations.Nullable;

/**
 * What the store knows of a document.
 *
 * @param version of the newest change, 1 or more
 * @param content as it is now; {@code null} = it is gone
 * @param updatedAt when it was changed, RFC 3339
 * @param updatedBy who changed it
 * @param changeId id of the call or edit that did
 */
record DocumentRow(long version, @Nullable String content, String updatedAt, String updatedBy, String changeId) {}
