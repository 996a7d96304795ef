package dev.millrace.llm.config;

import dev.millrace.llm.ModelReply.Usage;
import dev.millrace.llm.SettingRules;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a model costs, in US dollars per million tokens, which is the same as millionths of a dollar per token.
 *
 * @param input for a token of the request, 0 or more
 * @param output for a token of the reply, thinking included, 0 or more
 * @param cachedInput for a token that came from the provider's cache; null = as {@code input}
 * @param cacheWrite for a token that went into it; null = as {@code input}
 */
public record Price(
        BigDecimal input,
        BigDecimal output,
        @Nullable BigDecimal cachedInput,
        @Nullable BigDecimal cacheWrite) {

    public Price {
        Stream.of(input, output, cachedInput, cacheWrite).forEach(price -> {
            if (price != null && price.signum() < 0) {
                throw SettingRules.violation("models.<name>.price", "0 or more", price.toPlainString());
            }
        });
    }

    /** The cost in millionths of a dollar, rounded to the nearest. */
    long micros(Usage usage) {
        long plain = Math.max(0, usage.inputTokens() - usage.cachedInputTokens() - usage.cacheWriteTokens());
        return times(input, plain)
                .add(times(cachedInput == null ? input : cachedInput, usage.cachedInputTokens()))
                .add(times(cacheWrite == null ? input : cacheWrite, usage.cacheWriteTokens()))
                .add(times(output, usage.outputTokens()))
                .setScale(0, RoundingMode.HALF_UP)
                .longValueExact();
    }

    private static BigDecimal times(BigDecimal price, long tokens) {
        return price.multiply(BigDecimal.valueOf(tokens));
    }
}
