package dev.millrace.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How long things took, in milliseconds. */
record Latencies(List<Double> sorted) {

    Latencies {
        sorted = sorted.stream().sorted().toList();
    }

    /**
     * The value that this share of all is not above.
     *
     * @param share above 0, at most 1
     */
    double percentile(double share) {
        return sorted.isEmpty() ? Double.NaN : sorted.get((int) Math.ceil(share * sorted.size()) - 1);
    }

    double max() {
        return percentile(1);
    }

    Map<String, @Nullable Object> toJson() {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("count", sorted.size());
        json.put("p50Ms", rounded(percentile(0.5)));
        json.put("p95Ms", rounded(percentile(0.95)));
        json.put("p99Ms", rounded(percentile(0.99)));
        json.put("maxMs", rounded(max()));
        return json;
    }

    private static double rounded(double value) {
        return Math.round(value * 10) / 10.0;
    }
}
