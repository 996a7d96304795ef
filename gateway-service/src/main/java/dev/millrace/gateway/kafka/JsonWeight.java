package dev.millrace.gateway.kafka;

/**
 * What JSON takes in memory once it is read, about: a short one of many small values takes a multiple of its length.
 */
public final class JsonWeight {
    /** An object, and its place in the one that it is in. */
    private static final int PER_VALUE = 64;

    private JsonWeight() {}

    /** The weight in bytes, by the signs that stand before values; those in texts count too. */
    public static long of(byte[] json) {
        long values = 1;
        for (byte one : json) {
            if (one == ',' || one == ':' || one == '[' || one == '{') {
                values++;
            }
        }
        return 2L * json.length + PER_VALUE * values;
    }
}
