package dev.millrace.schemas;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Where ids come from. Only a root event draws one ({@link #random}); everything that follows from an event derives its
 * id from that event, so that a replay gives the same ids and every consumer can drop doubles.
 */
public final class Ids {

    /** The longest id that is accepted anywhere, in characters. */
    public static final int MAX_LENGTH = 200;

    private Ids() {}

    /**
     * Returns if this may be an id or a namespace.
     *
     * @throws IllegalArgumentException if not, naming the field, what is expected and found
     */
    static void require(String field, String value) {
        if (value.isBlank() || value.length() > MAX_LENGTH) {
            throw new IllegalArgumentException(field + ": expected 1 to " + MAX_LENGTH
                    + " characters that are not all blank, found " + value.length());
        }
        requirePrintable(field, value);
    }

    /**
     * Returns if no character is a control character or half of a surrogate pair. The first would break log lines,
     * headers and keys; the second has no UTF-8 form, so that two different ids could become one on the wire.
     *
     * @throws IllegalArgumentException if one is, naming the field, the place and the character
     */
    static void requirePrintable(String field, String value) {
        for (int i = 0; i < value.length(); i++) {
            char character = value.charAt(i);
            if (character >= ' ' && character <= '~') {
                continue;
            }
            boolean pair = Character.isHighSurrogate(character)
                    && i + 1 < value.length()
                    && Character.isLowSurrogate(value.charAt(i + 1));
            if (pair) {
                i++;
            } else if (Character.isISOControl(character) || Character.isSurrogate(character)) {
                throw new IllegalArgumentException(String.format(
                        Locale.ROOT,
                        "%s: expected no control characters and no halves of surrogate pairs, found U+%04X at index %d",
                        field,
                        (int) character,
                        i));
            }
        }
    }

    /** Whether this can be an id. */
    static boolean isId(String value) {
        try {
            require("id", value);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** A fresh, time-ordered id: a UUID version 7 (RFC 9562), lower case. */
    public static String random() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long high = (System.currentTimeMillis() << 16) | 0x7000L | (random.nextLong() & 0x0FFFL);
        long low = (random.nextLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new UUID(high, low).toString();
    }

    /**
     * The id of the event of this type that follows from {@code causationId}; {@code ordinal} tells several of one type
     * apart, starting with 0. 32 lower-case hex characters.
     */
    public static String derived(String causationId, EventType type, int ordinal) {
        return hash(causationId + '\n' + type.wireName() + '\n' + ordinal).substring(0, 32);
    }

    /** SHA-256 of the text as UTF-8, 64 lower-case hex characters. */
    public static String hash(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
