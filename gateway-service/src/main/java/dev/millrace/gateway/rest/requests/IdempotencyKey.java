package dev.millrace.gateway.rest.requests;

import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.schemas.Ids;
import org.jspecify.annotations.Nullable;

/** The header {@code Idempotency-Key}: the client's own id of a request, and so of the event that is made of it. */
public final class IdempotencyKey {

    /** The header's name. */
    public static final String HEADER = "Idempotency-Key";

    private IdempotencyKey() {}

    /**
     * The id that the client gave, in one place or the other.
     *
     * @param id the field of the body; {@code null} = none
     * @param header {@code null} = none
     * @return {@code null} if it gave none
     */
    public static @Nullable String or(@Nullable String id, @Nullable String header) {
        if (header == null) {
            return id;
        }
        // as the IETF draft has it: a text in quotes; many clients leave them out
        String key = header.strip().replaceFirst("^\"(.*)\"$", "$1");
        if (key.isBlank() || key.length() > Ids.MAX_LENGTH) {
            throw ProblemException.badParameter(HEADER, "1 to " + Ids.MAX_LENGTH + " characters", key);
        }
        if (id != null && !id.equals(key)) {
            throw ProblemException.badParameter(HEADER, "the same as the field id, or only one of them", key);
        }
        return key;
    }
}
