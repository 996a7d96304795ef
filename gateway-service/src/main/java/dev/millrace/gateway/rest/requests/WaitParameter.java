package dev.millrace.gateway.rest.requests;

import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.schemas.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** {@code ?wait=}: {@code 10}, {@code 10s}, {@code 500ms}, {@code 2m}, {@code PT10S}. */
public final class WaitParameter {
    private WaitParameter() {}

    /**
     * How long the client wants to wait; zero = not at all.
     *
     * @throws ProblemException if it cannot be read or is longer than {@code most}
     */
    public static Duration parse(@Nullable String text, Duration most) {
        if (text == null || text.isBlank()) {
            return Duration.ZERO;
        }
        return Durations.parse(text.strip())
                .filter(wait -> wait.compareTo(most) <= 0)
                .orElseThrow(() -> ProblemException.badParameter(
                        "wait", "a duration such as 10s or PT10S, at most " + most.toSeconds() + " s", text));
    }
}
