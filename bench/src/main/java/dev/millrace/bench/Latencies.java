package dev.millrace.bench;

import java.util.List;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** How long things took, in milliseconds, to four digits. Safe for any thread. */
record Latencies(Histogram micros) {

    private static final int DIGITS = 4;

    /** None yet. */
    Latencies() {
        this(new ConcurrentHistogram(DIGITS));
    }

    static Latencies of(List<Double> millis) {
        Latencies latencies = new Latencies();
        millis.forEach(latencies::note);
        return latencies;
    }

    void note(double millis) {
        micros.recordValue(Math.max(0, Math.round(millis * 1_000)));
    }

    /** What there is now; what is noted later is not in it. */
    Latencies copy() {
        return new Latencies(micros.copy());
    }

    int count() {
        return Math.toIntExact(micros.getTotalCount());
    }

    /**
     * The value that this share of all is not above; not a number if there is none.
     *
     * @param share above 0, at most 1
     */
    double percentile(double share) {
        return count() == 0
                ? Double.NaN
                : micros.lowestEquivalentValue(micros.getValueAtPercentile(100 * share)) / 1_000.0;
    }

    double max() {
        return percentile(1);
    }

    Summary summary() {
        return new Summary(
                count(),
                Rounded.to(10, percentile(0.5)),
                Rounded.to(10, percentile(0.95)),
                Rounded.to(10, percentile(0.99)),
                Rounded.to(10, max()));
    }

    /** As results have it. */
    record Summary(int count, double p50Ms, double p95Ms, double p99Ms, double maxMs) {}
}
