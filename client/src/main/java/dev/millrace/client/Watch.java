package dev.millrace.client;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which events a feed tells.
 *
 * @param cursor only what comes after this place; {@code null} = of a task all, of anything else what comes from now on
 * @param text whether what models say is told while they say it
 * @param types only these, as on the wire; empty = all
 * @param follow whether the feed of a task goes on after its end, since the task may be resumed
 */
public record Watch(@Nullable String cursor, boolean text, List<String> types, boolean follow) {

    public Watch {
        types = List.copyOf(types);
    }

    /** All facts, no live text. */
    public static Watch all() {
        return new Watch(null, false, List.of(), false);
    }

    /** The same from a place on, which {@link FeedEvent#cursor} named. */
    public static Watch after(@Nullable String cursor) {
        return new Watch(cursor, false, List.of(), false);
    }

    /** With live text. */
    public Watch withText() {
        return new Watch(cursor, true, types, follow);
    }

    /** Only events of these types. */
    public Watch only(String... wanted) {
        return new Watch(cursor, text, List.of(wanted), follow);
    }

    /** Goes on after the end of the task. */
    public Watch following() {
        return new Watch(cursor, text, types, true);
    }

    Route on(Route stream) {
        return stream.with("tokens", text ? "stream" : null)
                .with("types", types.isEmpty() ? null : String.join(",", types))
                .with("follow", follow ? "true" : null);
    }
}
