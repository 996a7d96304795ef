package dev.millrace.bench.crash;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Model calls that were made more than once, and because of which fault. */
public final class Repeats {

    private final Map<Integer, Integer> byFault = new TreeMap<>();
    private final Map<Integer, Integer> mostOfOneTask = new TreeMap<>();
    private long calls;

    /**
     * Counts them. A repetition belongs to the fault that was the last one before it.
     *
     * @param attempts when each call was made, by its id
     * @param struck the faults so far, by the time at which they struck
     */
    static Repeats count(Map<String, List<Instant>> attempts, NavigableMap<Instant, Fault> struck, Findings findings) {
        Repeats repeats = new Repeats();
        Map<String, Integer> byTaskAndFault = new TreeMap<>();
        attempts.forEach((callId, times) -> {
            repeats.calls++;
            for (Instant again : times.subList(1, times.size())) {
                Map.Entry<Instant, Fault> cause = struck.floorEntry(again);
                if (cause == null) {
                    findings.add("call " + callId + " made once before the first fault", "it made again at " + again);
                    continue;
                }
                Fault fault = cause.getValue();
                repeats.byFault.merge(fault.number(), 1, Integer::sum);
                int ofTask = byTaskAndFault.merge(task(callId) + '#' + fault.number(), 1, Integer::sum);
                repeats.mostOfOneTask.merge(fault.number(), ofTask, Math::max);
                if (ofTask == fault.kind().repeats() + 1) {
                    findings.add(
                            "at most " + fault.kind().repeats() + " repeated model call(s) of a task for fault "
                                    + fault.number() + " (" + fault.kind().label() + ")",
                            "more of " + task(callId) + ", among them " + callId + " at " + again);
                }
            }
        });
        return repeats;
    }

    /** Different calls. */
    long calls() {
        return calls;
    }

    /** All repetitions. */
    int total() {
        return byFault.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Those that a fault led to. */
    int after(Fault fault) {
        return byFault.getOrDefault(fault.number(), 0);
    }

    /** The most repetitions that a fault led to in one task. */
    int mostOfOneTask(Fault fault) {
        return mostOfOneTask.getOrDefault(fault.number(), 0);
    }

    /**
     * A call id is the id of its task, and what distinguishes it behind slashes; that of a reflection has a word
     * before.
     */
    private static String task(String callId) {
        String prefix = "reflection/";
        int start = callId.startsWith(prefix) ? prefix.length() : 0;
        int slash = callId.indexOf('/', start);
        return slash < 0 ? callId : callId.substring(0, slash);
    }
}
