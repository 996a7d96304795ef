package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** What model calls have used together. One call is counted once, however often it was tried. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonPropertyOrder({"calls", "failedCalls", "abandonedCalls", "callsWithoutPrice"})
@Schema(name = "UsageSums")
public record UsageSums(
        @Schema(description = "Model calls that have ended, whichever way.")
        long calls,

        @Schema(description = "Those that failed for good.") long failedCalls,

        @Schema(description = "Those that were cut off, or whose reply came too late.")
        long abandonedCalls,

        @Schema(description = "Requests to models: retries and fallbacks are requests of one call.")
        long requests,

        @Schema(description = "Those of which no provider said what they used: refused, cut off or lost.")
        long uncountedRequests,

        @Schema(description = "Tokens that the models read, those from caches included.")
        long inputTokens,

        @Schema(description = "Tokens that the models wrote, those of their reasoning included.")
        long outputTokens,

        @Schema(description = "Those of the input that came from a cache.")
        long cachedInputTokens,

        @Schema(description = "Those of the output that were reasoning.")
        long reasoningTokens,

        @Schema(description = "Millionths of a US dollar, as far as prices are configured.")
        long costMicros,

        @Schema(description = "Those that used something and have no price, and so are not in costMicros.")
        long callsWithoutPrice) {

    /** Nothing. */
    public static final UsageSums NONE = new UsageSums(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

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
