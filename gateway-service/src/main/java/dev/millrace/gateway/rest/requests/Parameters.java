package dev.millrace.gateway.rest.requests;

import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.schemas.JournalCursor;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads query parameters; one that cannot be read is a 400 and not, as JAX-RS would have it, a 404. */
public final class Parameters {
    private Parameters() {}

    /** The text; {@code null} if it is absent or blank, which means the same. */
    public static @Nullable String given(@Nullable String text) {
        return text == null || text.isBlank() ? null : text;
    }

    /** A number from 1 to {@code most}. */
    public static int number(String name, String text, int most) {
        try {
            int number = Integer.parseInt(text.strip());
            if (number >= 1 && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // the same as a number out of range
        }
        throw ProblemException.badParameter(name, "a whole number from 1 to " + most, text);
    }

    /** A place in the journal, also out of an id of a stream with live text; {@code null} if none is given. */
    public static @Nullable JournalCursor cursor(String name, @Nullable String text) {
        if (text == null || text.isBlank()) {
            return null;
        }
        Places places = Places.parse(text.strip())
                .filter(one -> one.partition().isPresent())
                .orElseThrow(() -> ProblemException.badParameter(name, "<partition>:<offset>", text));
        int partition = places.partition().getAsInt();
        long next = places.facts().getOrDefault(partition, 0L);
        return next == 0 ? null : new JournalCursor(partition, next - 1);
    }

    /** Names that are separated by commas; empty if there are none. */
    public static Set<String> set(@Nullable String text) {
        return text == null
                ? Set.of()
                : Arrays.stream(text.split(",", -1))
                        .map(String::strip)
                        .filter(name -> !name.isEmpty())
                        .collect(Collectors.toUnmodifiableSet());
    }

    /** {@code ?follow}, {@code ?follow=true} and {@code ?follow=1} are yes; nothing else is. */
    public static boolean flag(@Nullable String text) {
        return text != null && (text.isEmpty() || text.equals("true") || text.equals("1"));
    }
}
