package dev.millrace.schemas;

/** Texts as they stand in JSON: how many bytes they take there, and as much of one as fits. */
public final class JsonText {

    /** The most bytes that one character of a text can take in JSON: a control character. */
    public static final int MOST_BYTES_PER_CHARACTER = 6;

    /** For what is put behind a text that was cut. */
    private static final int NOTE_BYTES = 64;

    private static final char REPLACEMENT = '\uFFFD';

    private JsonText() {}

    /** How many bytes of UTF-8 this text takes in JSON, without the quotes around it. */
    public static long bytes(String text) {
        long bytes = 0;
        for (int i = 0; i < text.length(); i++) {
            bytes += bytes(text, i);
        }
        return bytes;
    }

    /**
     * The text if it takes at most so many bytes in JSON; else as much of its beginning as fits, and how many
     * characters are left out.
     */
    public static String cutToBytes(String text, long maxBytes) {
        if ((long) text.length() * MOST_BYTES_PER_CHARACTER <= maxBytes) {
            return text;
        }
        long bytes = 0;
        int fits = 0;
        for (int i = 0; i < text.length(); i++) {
            bytes += bytes(text, i);
            if (bytes <= maxBytes - NOTE_BYTES) {
                fits = i + 1;
            } else if (bytes > maxBytes) {
                String begin = begin(text, fits);
                return begin + "\n… (" + (text.length() - begin.length()) + " characters left out)";
            }
        }
        return text;
    }

    /** The text if it has at most so many characters; else its beginning and an ellipsis, together as many. */
    public static String cut(String text, int maxCharacters) {
        return text.length() <= maxCharacters ? text : begin(text, maxCharacters - 1) + '…';
    }

    /** As many characters of its beginning, or one less if that would part a pair of surrogates. */
    public static String begin(String text, int characters) {
        int end = Math.min(text.length(), Math.max(0, characters));
        boolean parts = end > 0 && end < text.length() && isPair(text, end - 1);
        return text.substring(0, parts ? end - 1 : end);
    }

    /**
     * The text with U+FFFD for each half of a surrogate pair that has lost the other: such a half has no UTF-8 form.
     */
    static String wellFormed(String text) {
        int lone = loneSurrogate(text, 0);
        if (lone < 0) {
            return text;
        }
        StringBuilder changed = new StringBuilder(text);
        while (lone >= 0) {
            changed.setCharAt(lone, REPLACEMENT);
            lone = loneSurrogate(text, lone + 1);
        }
        return changed.toString();
    }

    static boolean isWellFormed(String text) {
        return loneSurrogate(text, 0) < 0;
    }

    /** Where the first half of a surrogate pair is that has lost the other, from here on; negative if there is none. */
    private static int loneSurrogate(String text, int from) {
        for (int i = from; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                if (!isPair(text, i)) {
                    return i;
                }
                i++;
            }
        }
        return -1;
    }

    private static boolean isPair(String text, int at) {
        return Character.isHighSurrogate(text.charAt(at))
                && at + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(at + 1));
    }

    /** Of the character at this place. */
    private static int bytes(String text, int at) {
        char character = text.charAt(at);
        return switch (character) {
            case '"', '\\', '\b', '\t', '\n', '\f', '\r' -> 2;
            default -> {
                if (character < ' ') {
                    yield MOST_BYTES_PER_CHARACTER;
                }
                if (character < 0x80) {
                    yield 1;
                }
                if (Character.isSurrogate(character)) {
                    yield 2; // a pair takes four
                }
                yield character < 0x800 ? 2 : 3;
            }
        };
    }
}
