package dev.millrace.llm.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.millrace.llm.ModelReply.Usage;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Wire} saw in the JSON of one reply and LangChain4j does not tell, or not in the same way for every
 * provider and for streams. Used by one thread.
 */
final class Notes {

    private long input;
    private long output;
    private long cached;
    private long cacheWrites;
    private long reasoning;
    private int signed;

    /** What answered, as the provider calls it; null if it does not say. */
    @Nullable
    String model;

    /** Whether the provider said that the reply is complete. */
    boolean complete;

    /** The model's words of refusal, or the provider's name for it; null if the model did not refuse. */
    @Nullable
    String refusal;

    /** The provider's name for what its filter found; null if it found nothing. */
    @Nullable
    String filtered;

    /** How long the provider will take no further request; null if it says nothing like it. */
    @Nullable
    Duration nextRequestIn;

    /** What the provider wants to see again with the tool calls of this turn, in its own form. */
    final ArrayNode again = WireJson.MAPPER.createArrayNode();

    /** How many tool calls there were so far. */
    int calls;

    /** Takes counts that are said so far; a later and greater one replaces an earlier one. */
    void input(long all, long fromCache, long intoCache) {
        input = Math.max(input, all);
        cached = Math.max(cached, fromCache);
        cacheWrites = Math.max(cacheWrites, intoCache);
    }

    /** As {@link #input}. */
    void output(long all, long thinking) {
        output = Math.max(output, all);
        reasoning = Math.max(reasoning, thinking);
    }

    /** Takes the signature of the next tool call; a missing one keeps its place if another one follows or went before. */
    void signature(JsonNode signature) {
        if (signature.isTextual()) {
            while (again.size() < signed) {
                again.addNull();
            }
            again.add(signature);
        }
        signed++;
    }

    Usage usage() {
        return new Usage(input, output, Math.min(cached, input), Math.min(cacheWrites, input), reasoning, null);
    }
}
