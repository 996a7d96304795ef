package dev.millrace.llm;

import java.time.Duration;

/**
 * What the dispatcher may spend.
 *
 * @param maxConcurrentCalls permits of this process, 1 or more
 * @param maxAttempts how often one call may ask the model, 1 or more
 * @param callTimeout the budget of one call from its permit to its outcome, pauses included; more than zero
 * @param retryBackoff the pause after the first failed attempt; it doubles with each further one; more than zero
 * @param maxRetryBackoff the longest such pause; a provider's Retry-After may exceed it
 */
public record DispatcherLimits(
        int maxConcurrentCalls,
        int maxAttempts,
        Duration callTimeout,
        Duration retryBackoff,
        Duration maxRetryBackoff) {

    /** 3 permits, 4 attempts within 3 minutes, pauses from half a second to 20 seconds. */
    public static final DispatcherLimits DEFAULTS =
            new DispatcherLimits(3, 4, Duration.ofMinutes(3), Duration.ofMillis(500), Duration.ofSeconds(20));

    public DispatcherLimits {
        SettingRules.atLeastOne("max-concurrent-calls", maxConcurrentCalls);
        SettingRules.atLeastOne("max-attempts", maxAttempts);
        SettingRules.positive("call-timeout", callTimeout);
        SettingRules.positive("retry-backoff", retryBackoff);
        SettingRules.positive("max-retry-backoff", maxRetryBackoff);
    }
}
