package dev.millrace.gateway.watch;

/**
 * A file has changed.
 *
 * @param id of this change, the same when it is told once more
 * @param path below the folder, with {@code /} between its names
 * @param kind what has happened, all in all, since the file was last told of
 * @param size in bytes; 0 of one that is gone
 */
public record FileChange(String id, String path, Kind kind, long size) {

    /** What has happened to a file. */
    public enum Kind {
        /** It is there. */
        CREATED,
        /** Something else stands in it, or it was touched. */
        MODIFIED,
        /** It is gone. */
        DELETED
    }
}
