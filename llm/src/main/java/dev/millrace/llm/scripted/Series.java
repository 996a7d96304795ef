package dev.millrace.llm.scripted;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** How far the series of a script are: attempts of a fault, and calls of a sequence. Safe for any thread. */
final class Series {

    /** Of how many calls it is remembered what they got. */
    private static final int REMEMBERED = 10_000;

    private final Map<String, Integer> attempts = new Forgetful();
    private final Map<String, Integer> places = new Forgetful();
    private final Map<String, Integer> next = new HashMap<>();

    private static final class Forgetful extends LinkedHashMap<String, Integer> {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) {
            return size() > REMEMBERED;
        }
    }

    /** Which attempt of this series it is, from 1. */
    synchronized int attempt(String series) {
        return attempts.merge(series, 1, Integer::sum);
    }

    /**
     * The place of a call in a rule's sequence, from 0: every attempt of a call has the same one, every further call
     * the next.
     *
     * @return a number below {@code length}, or -1 if the sequence is over
     */
    synchronized int place(String rule, String callId, int length) {
        String call = rule + '\n' + callId;
        Integer known = places.get(call);
        if (known != null) {
            return known;
        }
        int place = next.getOrDefault(rule, 0);
        if (place >= length) {
            return -1;
        }
        next.put(rule, place + 1);
        places.put(call, place);
        return place;
    }
}
