package dev.millrace.agent.projection;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;

/**
 * What model calls have used together.
 *
 * @param calls model calls that ended, whichever way; one is counted once, however often it was tried
 * @param failedCalls those of them that failed for good
 * @param abandonedCalls those of them that were cut off, or whose reply came too late
 * @param requests requests to models that they took: retries and fallbacks are requests of one call
 * @param uncountedRequests those of them of which no provider said what they used
 * @param inputTokens tokens that the models read, those from caches included
 * @param outputTokens tokens that the models wrote, those of their reasoning included
 * @param cachedInputTokens those of the input that came from a cache
 * @param reasoningTokens those of the output that were reasoning
 * @param costMicros what it cost in millionths of a US dollar, as far as prices are configured
 * @param callsWithoutPrice calls that used something and are not in the cost
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record UsageSums(
        long calls,
        long failedCalls,
        long abandonedCalls,
        long requests,
        long uncountedRequests,
        long inputTokens,
        long outputTokens,
        long cachedInputTokens,
        long reasoningTokens,
        long costMicros,
        long callsWithoutPrice) {

    /** Nothing. */
    public static final UsageSums NONE = new UsageSums(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    /** How a call ended. */
    enum Ending {
        REPLIED,
        FAILED,
        ABANDONED
    }

    /** One call that ended like this, besides what it used. */
    static UsageSums call(Ending ending, long uncountedRequests, boolean priced) {
        return new UsageSums(
                1,
                ending == Ending.FAILED ? 1 : 0,
                ending == Ending.ABANDONED ? 1 : 0,
                0,
                uncountedRequests,
                0,
                0,
                0,
                0,
                0,
                priced ? 0 : 1);
    }

    /** So many requests and what they used, of a call that is counted elsewhere. */
    static UsageSums used(long requests, long input, long output, long cachedInput, long reasoning, long costMicros) {
        return new UsageSums(0, 0, 0, requests, 0, input, output, cachedInput, reasoning, costMicros, 0);
    }

    /** Both together. */
    public UsageSums plus(UsageSums other) {
        return new UsageSums(
                calls + other.calls,
                failedCalls + other.failedCalls,
                abandonedCalls + other.abandonedCalls,
                requests + other.requests,
                uncountedRequests + other.uncountedRequests,
                inputTokens + other.inputTokens,
                outputTokens + other.outputTokens,
                cachedInputTokens + other.cachedInputTokens,
                reasoningTokens + other.reasoningTokens,
                costMicros + other.costMicros,
                callsWithoutPrice + other.callsWithoutPrice);
    }
}
