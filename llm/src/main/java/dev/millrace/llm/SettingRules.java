package dev.millrace.llm;

import java.time.Duration;

/** Checks of values that an operator sets. What fails names the whole key, what was expected and what was found. */
public final class SettingRules {

    /** The prefix of every key of this module. */
    public static final String PREFIX = "millrace.llm.";

    private SettingRules() {}

    /** Fails below 1. */
    public static void atLeastOne(String key, int value) {
        if (value < 1) {
            throw violation(key, "1 or more", String.valueOf(value));
        }
    }

    /** Fails at zero and below. */
    public static void positive(String key, Duration value) {
        if (value.isZero() || value.isNegative()) {
            throw violation(key, "more than zero", value.toString());
        }
    }

    /** What to throw for a key without its prefix. */
    public static IllegalArgumentException violation(String key, String expected, String found) {
        return new IllegalArgumentException(PREFIX + key + ": expected " + expected + ", found " + found);
    }
}
