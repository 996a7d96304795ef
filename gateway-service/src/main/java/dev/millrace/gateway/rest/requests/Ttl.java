package dev.millrace.gateway.rest.requests;

import dev.millrace.gateway.rest.problems.ProblemException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** For how long something is wanted that nobody has begun to work on. */
public final class Ttl {

    /** Says so where bodies are those of somebody else's API. */
    public static final String HEADER = "X-Ttl";

    /** What the header means, for the API's document. */
    public static final String DESCRIPTION =
            "For how many milliseconds the task is wanted if nobody begins to work on it. Absent = for ever.";

    /** A hundred years: no longer one fits a date everywhere. */
    private static final long MAX_MS = 36_525L * 24 * 3_600 * 1_000;

    private Ttl() {}

    /** When something is no longer wanted that is wanted for so many milliseconds from now on. */
    public static Instant expiry(Instant now, long millis) {
        return now.plusMillis(Math.min(millis, MAX_MS));
    }

    /** The same of the header; {@code null} if there is none. */
    public static @Nullable Instant expiry(Instant now, @Nullable String header) {
        String given = Parameters.given(header);
        if (given == null) {
            return null;
        }
        try {
            long millis = Long.parseLong(given.strip());
            if (millis >= 1) {
                return expiry(now, millis);
            }
        } catch (NumberFormatException e) {
            // the same as a number that is too low
        }
        throw ProblemException.badParameter(HEADER, "a whole number of milliseconds, 1 or more", given);
    }
}
