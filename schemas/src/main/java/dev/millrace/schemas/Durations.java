package dev.millrace.schemas;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as people write them: {@code 500ms}, {@code 90s}, {@code 10m}, {@code 2h}, {@code 7d} or {@code PT1M30S}.
 */
public final class Durations {
    private static final Pattern SHORT = Pattern.compile("(\\d{1,9})(ms|s|m|h|d|)");

    private Durations() {}

    /** Reads one, of 0 or more; a bare number is seconds. Empty if the text is anything else. */
    public static Optional<Duration> parse(String text) {
        Matcher matcher = SHORT.matcher(text);
        if (matcher.matches()) {
            long number = Long.parseLong(matcher.group(1));
            return Optional.of(
                    switch (matcher.group(2)) {
                        case "ms" -> Duration.ofMillis(number);
                        case "m" -> Duration.ofMinutes(number);
                        case "h" -> Duration.ofHours(number);
                        case "d" -> Duration.ofDays(number);
                        default -> Duration.ofSeconds(number);
                    });
        }
        try {
            return Optional.of(Duration.parse(text.toUpperCase(Locale.ROOT))).filter(read -> !read.isNegative());
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }
}
