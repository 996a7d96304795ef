package dev.millrace.llm;

import java.time.Duration;

/** How long to wait before the next attempt: exponential, with a jitter that the call id decides. */
final class CallBackoff {

    private final Duration first;
    private final Duration longest;

    CallBackoff(Duration first, Duration longest) {
        this.first = first;
        this.longest = longest;
    }

    /**
     * The pause after the given failed attempt, counted from 1: half to all of {@code first × 2^(attempt-1)}, capped.
     * Equal arguments give an equal pause, so that a run can be repeated, and calls that failed together come back
     * apart.
     */
    Duration after(int attempt, String callId) {
        double capped = Math.min(first.toNanos() * Math.pow(2, attempt - 1), (double) longest.toNanos());
        return Duration.ofNanos((long) (capped * (0.5 + 0.5 * fraction(callId, attempt))));
    }

    /** 0 to below 1, spread evenly over call ids and attempts. */
    private static double fraction(String callId, int attempt) {
        long h = 0xCBF29CE484222325L; // FNV-1a, then SplitMix64's finish
        for (int i = 0; i < callId.length(); i++) {
            h = (h ^ callId.charAt(i)) * 0x100000001B3L;
        }
        h += 0x9E3779B97F4A7C15L * attempt;
        h = (h ^ (h >>> 30)) * 0xBF58476D1CE4E5B9L;
        h = (h ^ (h >>> 27)) * 0x94D049BB133111EBL;
        h ^= h >>> 31;
        return (h >>> 11) * 0x1.0p-53;
    }
}
