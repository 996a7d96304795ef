package dev.millrace.llm.remote;

import dev.millrace.llm.ModelCallException;
import java.net.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What providers say about the requests that are left, in the headers of a reply that they did give. Only one thing of
 * it is of use before a request is refused: that none is left.
 */
final class RateHeaders {

    private static final Pattern GO_DURATION =
            Pattern.compile("(?:(\\d+)h)?(?:(\\d+)m(?!s))?(?:(\\d+(?:\\.\\d+)?)s)?(?:(\\d+(?:\\.\\d+)?)ms)?");

    private RateHeaders() {}

    /**
     * How long there is no request left; null if some are, or if nobody says so. Providers name the time until all are
     * back (OpenAI as a duration, Anthropic as a date) and give them back one by one, so the next one is there after
     * its part of that time.
     */
    static @Nullable Duration nextRequestIn(HttpHeaders headers, Instant now) {
        Duration openAi = part(
                headers.firstValue("x-ratelimit-remaining-requests"),
                headers.firstValue("x-ratelimit-limit-requests"),
                headers.firstValue("x-ratelimit-reset-requests").map(RateHeaders::goDuration));
        return openAi != null
                ? openAi
                : part(
                        headers.firstValue("anthropic-ratelimit-requests-remaining"),
                        headers.firstValue("anthropic-ratelimit-requests-limit"),
                        headers.firstValue("anthropic-ratelimit-requests-reset").map(date -> until(date, now)));
    }

    private static @Nullable Duration part(
            Optional<String> remaining, Optional<String> limit, Optional<Duration> untilAll) {
        if (!remaining.map(String::strip).equals(Optional.of("0")) || untilAll.isEmpty()) {
            return null;
        }
        Duration wish = untilAll.get();
        Duration all = wish.compareTo(ModelCallException.LONGEST_PAUSE) < 0 ? wish : ModelCallException.LONGEST_PAUSE;
        return all.isZero() ? null : all.dividedBy(limit.map(RateHeaders::count).orElse(1L));
    }

    private static long count(String text) {
        try {
            return Math.max(1, Long.parseLong(text.strip()));
        } catch (NumberFormatException e) {
            return 1; // a hint that cannot be read is no hint
        }
    }

    /** {@code 6m0s}, {@code 20ms}; zero if it is none. */
    private static Duration goDuration(String text) {
        Matcher parts = GO_DURATION.matcher(text.strip());
        if (!parts.matches()) {
            return Duration.ZERO;
        }
        double seconds = 3600 * number(parts.group(1))
                + 60 * number(parts.group(2))
                + number(parts.group(3))
                + number(parts.group(4)) / 1000;
        return Duration.ofMillis((long) (1000 * seconds));
    }

    private static double number(@Nullable String digits) {
        return digits == null ? 0 : Double.parseDouble(digits);
    }

    private static Duration until(String date, Instant now) {
        try {
            Instant all = Instant.parse(date.strip());
            return all.isAfter(now) ? Duration.between(now, all) : Duration.ZERO;
        } catch (DateTimeException e) {
            return Duration.ZERO;
        }
    }
}
