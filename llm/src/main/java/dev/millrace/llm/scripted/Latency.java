package dev.millrace.llm.scripted;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonCreator;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long a reply takes: always the same for the same call, spread over different calls as the script says. Between
 * {@code min} and {@code max} all is equally likely; with {@code median} and {@code p99} it is log-normal, which is
 * about how models are: half take up to the median, one in a hundred more than p99. All in milliseconds.
 */
@JsonClassDescription("a number, or min and a max that is no less, or a median above 0 and a p99 that is no less")
record Latency(
        @Nullable Integer min,
        @Nullable Integer max,
        @Nullable Integer median,
        @Nullable Integer p99) {

    private static final double Z99 = 2.326347874;

    @JsonCreator(mode = JsonCreator.Mode.PROPERTIES)
    Latency {
        boolean uniform = min != null && max != null && median == null && p99 == null && max >= min;
        boolean logNormal = median != null && p99 != null && min == null && max == null && median > 0 && p99 >= median;
        if (!uniform && !logNormal) {
            throw new IllegalArgumentException("expected " + ScriptYaml.expected(Latency.class));
        }
    }

    /** Always the same. */
    @JsonCreator
    static Latency fixed(int millis) {
        if (millis < 0) {
            throw new IllegalArgumentException(
                    "expected " + ScriptYaml.expected(Integer.class) + ", found the number " + millis);
        }
        return new Latency(millis, millis, null, null);
    }

    /**
     * The pause for a place in the distribution.
     *
     * @param fraction above 0 and below 1
     */
    Duration at(double fraction) {
        if (min != null && max != null) {
            return Duration.ofNanos((long) (1e6 * (min + fraction * (max - min))));
        }
        double middle = median == null ? 0 : median;
        double sigma = Math.log((p99 == null ? 0 : p99) / middle) / Z99;
        return Duration.ofNanos((long) (1e6 * middle * Math.exp(sigma * normal(fraction))));
    }

    /** The standard normal quantile, good to 4.5e-4 (Abramowitz and Stegun 26.2.23). */
    private static double normal(double fraction) {
        double tail = Math.min(fraction, 1 - fraction);
        double t = Math.sqrt(-2 * Math.log(tail));
        double z =
                t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
        return fraction < 0.5 ? -z : z;
    }
}
