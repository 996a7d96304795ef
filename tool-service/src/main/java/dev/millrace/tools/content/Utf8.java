package dev.millrace.tools.content;

/** Finds places in UTF-8 where a text may be cut. */
final class Utf8 {

    private static final int LONGEST_CHARACTER = 4;

    private Utf8() {}

    /** The first place at or after {@code from} where a character begins, or the end. */
    static int nextStart(byte[] utf8, int from) {
        int at = from;
        while (at < utf8.length && isContinuation(utf8[at])) {
            at++;
        }
        return at;
    }

    /**
     * How many of the bytes make whole characters and, written as a JSON text, take at most {@code jsonBytes}.
     *
     * @param utf8 begins with a whole character
     */
    static int fitting(byte[] utf8, int jsonBytes) {
        int budget = jsonBytes;
        int at = 0;
        while (at < utf8.length) {
            int next = nextStart(utf8, at + 1);
            if (next == utf8.length && next - at < lengthOf(utf8[at])) {
                return at; // the last character is not whole
            }
            budget -= jsonLength(utf8[at], next - at);
            if (budget < 0) {
                return at;
            }
            at = next;
        }
        return at;
    }

    private static boolean isContinuation(byte b) {
        return (b & 0xc0) == 0x80;
    }

    private static int lengthOf(byte first) {
        int b = first & 0xff;
        return b < 0x80 ? 1 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : LONGEST_CHARACTER;
    }

    /** As our JSON writer does it, which writes a character beyond the basic plane as two escaped ones. */
    private static int jsonLength(byte first, int bytes) {
        return switch (bytes) {
            case 1 ->
                switch (first) {
                    case '"', '\\', '\n', '\r', '\t', '\b', '\f' -> 2;
                    default -> first >= 0 && first < ' ' ? 6 : 1;
                };
            case LONGEST_CHARACTER -> 12;
            default -> bytes;
        };
    }
}
