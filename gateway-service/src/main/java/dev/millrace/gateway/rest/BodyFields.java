package dev.millrace.gateway.rest;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fields of a JSON object, one kind per method. Each is {@code null} if it is absent or null, and one that is
 * something else is a 400 that names it.
 *
 * @param body the object
 */
record BodyFields(Map<String, @Nullable Object> body) {

    private static final int MAX_URL = 2048;

    /**
     * Refuses what is none of these: a field that nobody reads is a mistake of whoever sent it.
     *
     * @return this
     * @throws ProblemException that names it, and the nearest that there is
     */
    BodyFields allowOnly(String... known) {
        requireKnown(body.keySet(), new TreeSet<>(Set.of(known)), "");
        return this;
    }

    /**
     * Refuses names that are none of these.
     *
     * @param where they stand, for people, with a blank before it; may be empty
     * @throws ProblemException that names them, and the nearest that there are
     */
    static void requireKnown(Collection<String> names, SortedSet<String> known, String where) {
        List<String> unknown =
                names.stream().filter(name -> !known.contains(name)).toList();
        if (!unknown.isEmpty()) {
            throw ProblemException.unknownNames(
                    new ProblemException.Kind("unknown_field", "field", "fields"), unknown, known, where);
        }
    }

    /** A text that is not all blank, of at most so many characters. */
    @Nullable
    String text(String field, int most) {
        Object value = body.get(field);
        if (value == null) {
            return null;
        }
        if (value instanceof String text && !text.isBlank() && text.length() <= most) {
            return text;
        }
        throw ProblemException.badField(field, "a text of 1 to " + most + " characters", value);
    }

    @Nullable
    Map<?, ?> object(String field) {
        Object value = body.get(field);
        if (value == null) {
            return null;
        }
        if (value instanceof Map<?, ?> object) {
            return object;
        }
        throw ProblemException.badField(field, "an object", value);
    }

    /** A whole number of at least this. */
    @Nullable
    Integer number(String field, int least) {
        Object value = body.get(field);
        if (value == null) {
            return null;
        }
        if (value instanceof Integer number && number >= least) {
            return number;
        }
        throw ProblemException.badField(field, "a whole number of " + least + " or more", value);
    }

    /** A number of milliseconds, 1 or more. */
    @Nullable
    Long millis(String field) {
        Object value = body.get(field);
        if (value == null) {
            return null;
        }
        if ((value instanceof Integer || value instanceof Long) && ((Number) value).longValue() > 0) {
            return ((Number) value).longValue();
        }
        throw ProblemException.badField(field, "a whole number of milliseconds, 1 or more", value);
    }

    /** A moment as RFC 3339 writes it. */
    @Nullable
    Instant time(String field) {
        Object value = body.get(field);
        if (value == null) {
            return null;
        }
        if (value instanceof String text) {
            try {
                return OffsetDateTime.parse(text.strip()).toInstant();
            } catch (DateTimeException e) {
                // told below
            }
        }
        throw ProblemException.badField(field, "a time such as 2027-01-15T08:00:00Z", value);
    }

    /** An http or https URL with a host and without a user. */
    @Nullable
    String url(String field) {
        String text = text(field, MAX_URL);
        if (text == null || isUrl(text)) {
            return text;
        }
        throw ProblemException.badField(field, "an http or https URL with a host and without a user", text);
    }

    private static boolean isUrl(String text) {
        try {
            URI url = new URI(text);
            return ("http".equals(url.getScheme()) || "https".equals(url.getScheme()))
                    && url.getHost() != null
                    && url.getRawUserInfo() == null;
        } catch (URISyntaxException e) {
            return false;
        }
    }
}
