package dev.millrace.schemas;

/**
 * A type that the catalogue does not know, such as {@code file.changed}. It sits in the external segment with code 190,
 * behind every known external type.
 *
 * @param wireName the name as it came, 1 to 256 characters, no control characters
 */
public record CustomEventType(String wireName) implements EventType {

    /** The code of every type that the catalogue does not know. */
    public static final int CODE = 190;

    public CustomEventType {
        if (wireName.isBlank() || wireName.length() > 256) {
            throw new IllegalArgumentException(
                    "event type: expected 1 to 256 characters that are not all blank, found " + wireName.length());
        }
        Ids.requirePrintable("event type", wireName);
    }

    @Override
    public int code() {
        return CODE;
    }

    @Override
    public String toString() {
        return wireName;
    }
}
