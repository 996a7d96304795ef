package dev.millrace.schemas;

/**
 * The type of an event: a name and the code that is its default priority. The set is open: what the catalogue
 * {@link KnownEventType} has not heard of is an {@link EnvironmentType} or a {@link CustomEventType}, and as legal as
 * any other. Live text has types of its own, {@link StreamType}.
 */
public sealed interface EventType permits KnownEventType, EnvironmentType, StreamType, CustomEventType {

    /**
     * The name as it stands in the {@code ce_type} header, such as {@code MESSAGE_RECEIVED} or {@code file.changed}.
     */
    String wireName();

    /** The code, 0 or more; lower goes first. */
    int code();

    /** Whether it is outside the catalogue: taken with any payload, and for rules to make something of. */
    default boolean isOpen() {
        return this instanceof EnvironmentType || this instanceof CustomEventType;
    }

    /** The same of a name; what cannot be the name of a type is not. */
    static boolean isOpen(String name) {
        try {
            return of(name).isOpen();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** The segment that the code lies in. */
    default Segment segment() {
        return Segment.ofCode(code());
    }

    /**
     * The type with this name or alias; a {@link CustomEventType} if the catalogue has none.
     *
     * @throws IllegalArgumentException if the name is blank or longer than 256 characters
     */
    static EventType of(String name) {
        EventType known = KnownEventType.BY_NAME.get(name);
        if (known == null) {
            known = StreamType.BY_NAME.get(name);
        }
        if (known == null) {
            known = EnvironmentType.BY_NAME.get(name);
        }
        return known == null ? new CustomEventType(name) : known;
    }
}
