package dev.millrace.llm.rates;

import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.SettingRules;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What may be asked with one key of a provider, by everybody together.
 *
 * @param key what the key is called ({@code keys.<key>})
 * @param maxRequests in any window, 1 or more; null = any number
 * @param maxTokens in any window, input and output, 1 or more; null = any number
 * @param window the time that the limits are for, up to 10 minutes; it slides
 * @param margin how much later than its permission a request may reach the provider; so much longer than the window it
 *     counts
 */
public record RateLimit(
        String key, @Nullable Integer maxRequests, @Nullable Long maxTokens, Duration window, Duration margin) {

    /** The longest window: what happened before it need not be known by a process that starts. */
    public static final Duration LONGEST_WINDOW = Duration.ofMinutes(10);

    public RateLimit {
        String prefix = "keys." + key + ".";
        if (maxRequests != null) {
            SettingRules.atLeastOne(prefix + "max-requests", maxRequests);
        }
        if (maxTokens != null && maxTokens < 1) {
            throw SettingRules.violation(prefix + "max-tokens", "1 or more", String.valueOf(maxTokens));
        }
        SettingRules.positive(prefix + "window", window);
        SettingRules.positive(prefix + "margin", margin);
        if (window.compareTo(LONGEST_WINDOW) > 0) {
            throw SettingRules.violation(prefix + "window", "at most " + LONGEST_WINDOW, window.toString());
        }
        if (margin.compareTo(window) > 0) {
            throw SettingRules.violation(prefix + "margin", "at most the window", margin.toString());
        }
    }

    /** Whether anything is limited at all. */
    public boolean limits() {
        return maxRequests != null || maxTokens != null;
    }

    /** How long a request counts, in milliseconds. */
    long spanMs() {
        return window.plus(margin).toMillis();
    }

    /** Fails if there can never be room for so many tokens. */
    public void check(long tokens) throws ModelCallException {
        if (maxTokens != null && tokens > maxTokens) {
            throw new ModelCallException(
                    ModelErrorCode.RATE_LIMITED,
                    "the request needs about " + tokens + " tokens, and the key " + key + " may use " + maxTokens
                            + " in " + window + " (" + SettingRules.PREFIX + "keys." + key + ".max-tokens)",
                    false,
                    null,
                    null);
        }
    }
}
