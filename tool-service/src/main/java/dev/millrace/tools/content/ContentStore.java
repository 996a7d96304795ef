package dev.millrace.tools.content;

import dev.millrace.tool.api.ToolException;

/** Keeps large contents. Safe for any thread. */
public interface ContentStore {

    /** A content cannot be kept now. */
    final class UnavailableException extends Exception {
        private static final long serialVersionUID = 1L;

        public UnavailableException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * Some bytes of a content.
     *
     * @param bytes from the place that was asked for, and up to as many; fewer only at the end
     * @param totalBytes how many there are in all
     * @param contentType {@code text/plain} or {@code application/json}, both in UTF-8
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared, and copying megabytes would serve nobody
    record Slice(byte[] bytes, long totalBytes, String contentType) {}

    /**
     * Keeps a content; returns when it is safe.
     *
     * @param callId the call that it came of
     * @param content UTF-8
     * @return the reference, 1 to 100 characters without blanks
     */
    String put(Owner owner, String callId, byte[] content, String contentType)
            throws UnavailableException, InterruptedException;

    /**
     * Reads bytes.
     *
     * @param offset of the first byte, 0 or more; at or behind the end there are none
     * @param length how many at most
     * @throws ToolException with code {@code unknown_reference} if there is nothing that this reader may see, {@code
     *     content_gone} or {@code content_unavailable}
     */
    Slice read(Owner reader, String reference, long offset, int length) throws ToolException, InterruptedException;
}
