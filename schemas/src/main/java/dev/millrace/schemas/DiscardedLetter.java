package dev.millrace.schemas;

import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A record of the topic {@link Topics#forgotten}: a dead letter that nobody is to be shown any more, because
 * somebody has decided that nothing is to become of it.
 *
 * @param place its partition and offset among the dead letters, such as {@code 0:41}
 * @param atMs when it was put aside, in Unix milliseconds: should the topic be made anew, another one at this place is
 *     not meant
 */
public record DiscardedLetter(String place, long atMs) {

    private static final String KIND = "dead_letter";
    private static final Pattern PLACE = Pattern.compile("\\d{1,9}:\\d{1,18}");

    public DiscardedLetter {
        if (!PLACE.matcher(place).matches()) {
            throw new IllegalArgumentException("place: expected <partition>:<offset>, found \"" + place + "\"");
        }
    }

    /** The record's value. */
    public byte[] toJson() {
        return Json.write(JsonObject.builder()
                .put("kind", KIND)
                .put("place", place)
                .put("at", atMs)
                .build());
    }

    /** Reads {@link #toJson}; empty if the record says nothing of the kind. */
    public static Optional<DiscardedLetter> fromJson(byte @Nullable [] value) {
        if (value == null) {
            return Optional.empty();
        }
        try {
            JsonObject json = Json.readObject(value);
            return KIND.equals(json.get("kind"))
                            && json.get("place") instanceof String place
                            && PLACE.matcher(place).matches()
                            && json.get("at") instanceof Number at
                    ? Optional.of(new DiscardedLetter(place, at.longValue()))
                    : Optional.empty();
        } catch (MalformedEventException e) {
            return Optional.empty();
        }
    }
}
