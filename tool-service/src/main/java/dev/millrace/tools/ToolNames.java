package dev.millrace.tools;

import dev.millrace.schemas.Ids;

/** What the tools of MCP servers and of HTTP APIs are called here: {@code <server>__<tool>}. */
public final class ToolNames {

    /** Between the server's name and the tool's. */
    static final String SEPARATOR = "__";

    /** What model providers take. */
    private static final int MAX_LENGTH = 64;

    private static final int HASH_LENGTH = 8;

    private ToolNames() {}

    /**
     * The name for models: letters, digits, {@code _} and {@code -}, at most 64. A name that does not fit is cut, and
     * gets a hash of the whole at its end, so that it is the same after each start and no other tool's.
     */
    public static String of(String server, String tool) {
        String wanted = server + SEPARATOR + tool;
        String fitting = letters(wanted);
        if (fitting.equals(wanted) && wanted.length() <= MAX_LENGTH) {
            return wanted;
        }
        String hash = Ids.hash(server + '\n' + tool).substring(0, HASH_LENGTH);
        int room = MAX_LENGTH - HASH_LENGTH - 1;
        return (fitting.length() <= room ? fitting : fitting.substring(0, room)) + "_" + hash;
    }

    /** Whether a tool of this server may have this name. */
    public static boolean mayBeOf(String server, String name) {
        String prefix = letters(server + SEPARATOR);
        int room = MAX_LENGTH - HASH_LENGTH - 1;
        return name.startsWith(prefix.length() <= room ? prefix : prefix.substring(0, room));
    }

    private static String letters(String text) {
        return text.replaceAll("[^A-Za-z0-9_-]", "_");
    }
}
