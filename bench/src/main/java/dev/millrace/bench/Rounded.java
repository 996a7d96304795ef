package dev.millrace.bench;

import java.util.stream.DoubleStream;

/** Numbers as results show them: rounded, and one for many. */
final class Rounded {

    private Rounded() {}

    /** To this fraction of one: 10 = to a tenth. */
    static double to(int fraction, double value) {
        return Math.round(value * fraction) / (double) fraction;
    }

    /** The middle one, or the mean of the two that are; not a number if there is none. */
    static double median(DoubleStream values) {
        double[] sorted = values.sorted().toArray();
        return sorted.length == 0 ? Double.NaN : (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }
}
