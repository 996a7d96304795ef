package dev.millrace.bench.crash;

import java.util.ArrayList;
import java.util.List;

/** What was not as promised, in the order in which it was found. Safe to use from any thread. */
final class Findings {

    private static final int MOST = 50;

    private final List<String> all = new ArrayList<>();

    /** Notes something; after the first {@value #MOST} nothing, since they have the same cause then. */
    synchronized void add(String expected, String found) {
        if (all.size() < MOST) {
            all.add("expected " + expected + ", found " + found);
        }
    }

    synchronized List<String> all() {
        return List.copyOf(all);
    }

    synchronized boolean isEmpty() {
        return all.isEmpty();
    }
}
