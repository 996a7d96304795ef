package dev.millrace.bench;

/** Numbers as results show them. */
final class Rounded {

    private Rounded() {}

    /** To this fraction of one: 10 = to a tenth. */
    static double to(int fraction, double value) {
        return Math.round(value * fraction) / (double) fraction;
    }
}
