package dev.millrace.bench.crash;

import dev.millrace.bench.Surroundings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * What a run has done and found.
 *
 * @param leftOut kinds of faults that the machine did not allow
 * @param findings what was not as promised; empty = all was
 */
public record CrashReport(
        CrashSettings settings,
        Counts counts,
        List<Aftermath> aftermaths,
        Repeats repeats,
        List<String> leftOut,
        List<String> findings) {

    /** Copies the lists. */
    public CrashReport {
        aftermaths = List.copyOf(aftermaths);
        leftOut = List.copyOf(leftOut);
        findings = List.copyOf(findings);
    }

    /**
     * How much there was.
     *
     * @param accepted tasks that were acknowledged
     * @param ended those that ended
     * @param records committed ones in the journal
     * @param hostile records that nobody can accept, which were sent beside the load
     * @param effects of the idempotent tool
     * @param runs of it, which may be more
     */
    public record Counts(int accepted, int ended, long records, int hostile, int effects, int runs, Duration took) {}

    /** Whether something was broken, all of it that there was time for, and nothing was found. */
    public boolean passed() {
        return findings.isEmpty() && !aftermaths.isEmpty();
    }

    /**
     * For the line of the results file.
     *
     * @param faults that were carried out
     * @param kinds by their labels
     */
    public record Summary(
            boolean passed,
            long seed,
            int faults,
            int tasksInFlight,
            long tookSeconds,
            int tasksAccepted,
            int tasksEnded,
            long journalRecords,
            int hostileRecords,
            int toolEffects,
            int toolRuns,
            long modelCalls,
            int modelCallsRepeated,
            Map<String, OfKind> kinds,
            List<String> leftOut,
            List<String> findings) {}

    /** What faults of one kind did. */
    public record OfKind(
            int count,
            long goneOnMedianMs,
            long goneOnMaxMs,
            long wellMedianMs,
            long wellMaxMs,
            int modelCallsRepeated) {}

    /** The whole in numbers. */
    public Summary summary() {
        Map<String, OfKind> kinds = new LinkedHashMap<>();
        for (FaultKind kind : FaultKind.values()) {
            List<Aftermath> those = of(kind);
            if (!those.isEmpty()) {
                kinds.put(
                        kind.label(),
                        new OfKind(
                                those.size(),
                                median(those, Aftermath::goneOnMs),
                                max(those, Aftermath::goneOnMs),
                                median(those, Aftermath::wellMs),
                                max(those, Aftermath::wellMs),
                                repeated(those)));
            }
        }
        return new Summary(
                passed(),
                settings.seed(),
                aftermaths.size(),
                settings.tasks(),
                counts.took().toSeconds(),
                counts.accepted(),
                counts.ended(),
                counts.records(),
                counts.hostile(),
                counts.effects(),
                counts.runs(),
                repeats.calls(),
                repeats.total(),
                kinds,
                leftOut,
                findings);
    }

    /**
     * For people.
     *
     * @param surroundings which sources, which JDK, which machine
     */
    public String toMarkdown(Surroundings surroundings) {
        List<String> lines = new ArrayList<>();
        lines.add("""
                # Crash report

                What `./millrace bench crash --faults %d --seed %d --tasks %d --brokers %d` did and found. The file is written by it.

                %s, two agent-services (with standby replicas), tool-service, reflection-service and gateway, each a process
                of its own, work on tasks of two model calls, a tool call, a memory call and a reflection each; half of the tasks come
                through the gateway, half straight on a lane, several conversations at a time. One fault after the other strikes, of
                each kind in a random order. After each fault, with the load going on, everything has to be well again within %d s,
                and is checked.

                | | |
                |---|---|\
                """.formatted(
                        settings.faults(),
                        settings.seed(),
                        settings.tasks(),
                        settings.brokers(),
                        settings.brokers() == 1 ? "One broker" : "Three brokers (replication 3, at least 2 in sync)",
                        settings.limit().toSeconds()));
        row(lines, "verdict", passed() ? "**passed**" : "**failed**");
        row(lines, "commit", surroundings.commit());
        row(lines, "at", surroundings.at());
        row(lines, "jdk", surroundings.jdk());
        row(lines, "cores", surroundings.cores());
        row(lines, "os", surroundings.os());
        row(lines, "seed", settings.seed());
        row(lines, "took", counts.took().toMinutes() + " min " + counts.took().toSecondsPart() + " s");
        row(lines, "faults", aftermaths.size() + " of " + settings.faults());
        row(lines, "tasks accepted", counts.accepted());
        row(lines, "of which ended as completed", counts.ended());
        row(lines, "committed records in the journal", counts.records());
        row(lines, "records beside them that nobody can accept, each found among the dead letters", counts.hostile());
        row(lines, "different model calls", repeats.calls());
        row(lines, "of which repeated", repeats.total());
        row(lines, "runs of the idempotent tool", counts.runs());
        row(lines, "effects of it", counts.effects());
        row(
                lines,
                "left out, because the machine does not allow it",
                leftOut.isEmpty() ? "none" : String.join(", ", leftOut));
        lines.add("");
        promises(lines);
        byKind(lines);
        oneByOne(lines);
        return String.join("\n", lines) + "\n";
    }

    private void promises(List<String> lines) {
        lines.add("## What was checked");
        lines.add("");
        if (findings.isEmpty()) {
            lines.add("After each fault and at the end, without a finding:");
        } else {
            lines.add("Not as promised:");
            lines.add("");
            findings.forEach(finding -> lines.add("- " + finding));
            lines.add("");
            lines.add("Checked were:");
        }
        lines.add("""

                - every accepted task ended, once, as completed; on each partition tasks went on to end
                - no event id twice among the committed records of the journal, and each event's cause among them
                - the tasks of a conversation in the order in which they were accepted, one at a time
                - the effect of the idempotent tool once per task, one entry per task in memory, each reflection done
                - model calls of a task repeated at most once per crash, and once per orderly move of its partition
                - nothing in the dead letters but the records that nobody can accept, and all of those
                """);
    }

    private void byKind(List<String> lines) {
        lines.add("""
                ## By kind

                How long it took, median and longest, in seconds. *Went on*: from the fault until tasks that were accepted
                after it had ended on all partitions. *All well*: from when the fault was over (processes started, network
                or disk back) until every service was ready, every task from before had ended, and one from afterwards on
                every partition.

                | what happened | faults | tasks in flight | went on | all well | model calls repeated | most of one task |
                |---|---|---|---|---|---|---|\
                """);
        for (FaultKind kind : FaultKind.values()) {
            List<Aftermath> those = of(kind);
            if (!those.isEmpty()) {
                lines.add("| %s | %d | %d | %s, %s | %s, %s | %d | %d |"
                        .formatted(
                                kind.summary(),
                                those.size(),
                                those.stream().mapToInt(Aftermath::openAtStrike).sum(),
                                seconds(median(those, Aftermath::goneOnMs)),
                                seconds(max(those, Aftermath::goneOnMs)),
                                seconds(median(those, Aftermath::wellMs)),
                                seconds(max(those, Aftermath::wellMs)),
                                repeated(those),
                                those.stream()
                                        .mapToInt(one -> repeats.mostOfOneTask(one.fault()))
                                        .max()
                                        .orElse(0)));
            }
        }
        lines.add("");
    }

    private void oneByOne(List<String> lines) {
        lines.add("""
                ## One by one

                | # | fault | in flight | broken for | went on after | all well after | calls repeated | started again besides |
                |---|---|---|---|---|---|---|---|\
                """);
        for (Aftermath one : aftermaths) {
            lines.add("| %d | %s | %d | %s | %s | %s | %d | %s |"
                    .formatted(
                            one.fault().number(),
                            one.what(),
                            one.openAtStrike(),
                            seconds(one.brokenMs()),
                            seconds(one.goneOnMs()),
                            seconds(one.wellMs()),
                            repeats.after(one.fault()),
                            one.restarts().stream()
                                    .map(why -> why.replace('|', '/'))
                                    .collect(Collectors.joining("; "))));
        }
    }

    private List<Aftermath> of(FaultKind kind) {
        Predicate<Aftermath> ofKind = one -> one.fault().kind() == kind;
        return aftermaths.stream().filter(ofKind).toList();
    }

    private int repeated(List<Aftermath> those) {
        return those.stream().mapToInt(one -> repeats.after(one.fault())).sum();
    }

    private static long median(List<Aftermath> those, ToLongFunction<Aftermath> value) {
        List<Long> sorted = those.stream().map(value::applyAsLong).sorted().toList();
        return sorted.get(sorted.size() / 2);
    }

    private static long max(List<Aftermath> those, ToLongFunction<Aftermath> value) {
        return those.stream().mapToLong(value).max().orElse(0);
    }

    private static void row(List<String> lines, String name, Object value) {
        lines.add("| " + name + " | " + value + " |");
    }

    private static String seconds(long millis) {
        return millis < 0 ? "–" : String.format(Locale.ROOT, "%.1f", millis / 1000.0);
    }
}
