package dev.millrace.llm.scripted;

import java.time.Duration;

/** How long a reply takes: always the same for the same call, spread over different calls as the script says. */
sealed interface Latency {

    /**
     * The pause for a place in the distribution.
     *
     * @param fraction above 0 and below 1
     */
    Duration at(double fraction);

    /** Always the same. */
    record Fixed(Duration pause) implements Latency {
        @Override
        public Duration at(double fraction) {
            return pause;
        }
    }

    /** Anything between the two, all equally likely. */
    record Uniform(Duration min, Duration max) implements Latency {
        @Override
        public Duration at(double fraction) {
            return min.plusNanos((long) (fraction * (max.toNanos() - min.toNanos())));
        }
    }

    /** Log-normal, which is about how models are: half take up to the median, one in a hundred more than {@code p99}. */
    record LogNormal(Duration median, Duration p99) implements Latency {

        private static final double Z99 = 2.326347874;

        @Override
        public Duration at(double fraction) {
            double sigma = Math.log((double) p99.toNanos() / median.toNanos()) / Z99;
            return Duration.ofNanos((long) (median.toNanos() * Math.exp(sigma * normal(fraction))));
        }

        /** The standard normal quantile, good to 4.5e-4 (Abramowitz and Stegun 26.2.23). */
        private static double normal(double fraction) {
            double tail = Math.min(fraction, 1 - fraction);
            double t = Math.sqrt(-2 * Math.log(tail));
            double z = t
                    - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
            return fraction < 0.5 ? -z : z;
        }
    }
}
