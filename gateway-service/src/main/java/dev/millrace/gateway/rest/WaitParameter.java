package dev.millrace.gateway.rest;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** {@code ?wait=}: {@code 10}, {@code 10s}, {@code 500ms}, {@code 2m}, {@code PT10S}. */
final class WaitParameter {
    private static final Pattern SHORT = Pattern.compile("(\\d{1,9})(ms|s|m|)");

    private WaitParameter() {}

    /**
     * How long the client wants to wait; zero = not at all.
     *
     * @throws ProblemException if it cannot be read or is longer than {@code most}
     */
    static Duration parse(@Nullable String text, Duration most) {
        if (text == null || text.isBlank()) {
            return Duration.ZERO;
        }
        Duration wait = duration(text.strip());
        if (wait == null || wait.isNegative() || wait.compareTo(most) > 0) {
            throw ProblemException.badParameter(
                    "wait", "a duration such as 10s or PT10S, at most " + most.toSeconds() + " s", text);
        }
        return wait;
    }

    private static @Nullable Duration duration(String text) {
        Matcher matcher = SHORT.matcher(text);
        if (matcher.matches()) {
            long number = Long.parseLong(matcher.group(1));
            return switch (matcher.group(2)) {
                case "ms" -> Duration.ofMillis(number);
                case "m" -> Duration.ofMinutes(number);
                default -> Duration.ofSeconds(number);
            };
        }
        try {
            return Duration.parse(text.toUpperCase(Locale.ROOT));
        } catch (DateTimeParseException e) {
            return null;
        }
    }
}
