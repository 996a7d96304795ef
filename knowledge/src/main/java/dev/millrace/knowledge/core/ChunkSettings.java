package dev.millrace.knowledge.core;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How documents are cut into chunks.
 *
 * @param size the largest chunk, in tokens; of a table cell or a word that is longer it is more
 * @param overlap how much of a chunk the next one begins with, in tokens, less than the size
 */
public record ChunkSettings(Strategy strategy, int size, int overlap) {

    /** The smallest and the largest size of a chunk, in tokens. */
    public static final int MIN_SIZE = 16;

    public static final int MAX_SIZE = 4_096;

    /** A token is about so many characters; tokenizers differ, and no cut depends on one. */
    static final int CHARS_PER_TOKEN = 4;

    /** Where a document may be cut. */
    public enum Strategy {
        /** Never across a heading; tables between rows, each piece with the names of the columns. */
        HEADINGS(280, 0),
        /** Between paragraphs. */
        PARAGRAPH(512, 50),
        /** Between sentences. */
        SENTENCE(512, 50),
        /** Between words. */
        FIXED(512, 50);

        private final int size;
        private final int overlap;

        Strategy(int size, int overlap) {
            this.size = size;
            this.overlap = overlap;
        }

        /** Its name in payloads. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public ChunkSettings {
        if (size < MIN_SIZE || size > MAX_SIZE) {
            throw new IllegalArgumentException(
                    "chunking.size: expected " + MIN_SIZE + " to " + MAX_SIZE + " tokens, found " + size);
        }
        if (overlap < 0 || overlap >= size) {
            throw new IllegalArgumentException(
                    "chunking.overlap: expected 0 or more and less than the size " + size + ", found " + overlap);
        }
    }

    /** With the size and the overlap that suit the strategy. */
    public static ChunkSettings of(Strategy strategy) {
        return new ChunkSettings(strategy, strategy.size, strategy.overlap);
    }

    /**
     * The same but for what is said here.
     *
     * @throws IllegalArgumentException if that cannot be, naming the field
     */
    public ChunkSettings with(@Nullable String name, @Nullable Long newSize, @Nullable Long newOverlap) {
        ChunkSettings base = name == null ? this : of(strategy(name));
        int wanted = newSize == null ? base.size : within(newSize);
        return new ChunkSettings(
                base.strategy,
                wanted,
                newOverlap == null ? Math.min(base.overlap, Math.max(0, wanted / 4)) : within(newOverlap));
    }

    /** What is beyond all bounds is told as being so. */
    private static int within(long tokens) {
        return Math.clamp(tokens, -1, Integer.MAX_VALUE);
    }

    private static Strategy strategy(String name) {
        for (Strategy one : Strategy.values()) {
            if (one.wireName().equals(name)) {
                return one;
            }
        }
        throw new IllegalArgumentException(
                "chunking.strategy: expected headings, paragraph, sentence or fixed, found " + name);
    }

    int maxChars() {
        return size * CHARS_PER_TOKEN;
    }

    int overlapChars() {
        return overlap * CHARS_PER_TOKEN;
    }

    /** Names what chunks depend on. */
    public String fingerprint() {
        return strategy.wireName() + '/' + size + '/' + overlap;
    }
}
