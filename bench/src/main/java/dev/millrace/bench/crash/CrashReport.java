package dev.millrace.bench.crash;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

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

    /** For the line of the results file. */
    public Map<String, @Nullable Object> toJson() {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("passed", passed());
        json.put("seed", settings.seed());
        json.put("faults", aftermaths.size());
        json.put("tasksInFlight", settings.tasks());
        json.put("tookSeconds", counts.took().toSeconds());
        json.put("tasksAccepted", counts.accepted());
        json.put("tasksEnded", counts.ended());
        json.put("journalRecords", counts.records());
        json.put("hostileRecords", counts.hostile());
        json.put("toolEffects", counts.effects());
        json.put("toolRuns", counts.runs());
        json.put("modelCalls", repeats.calls());
        json.put("modelCallsRepeated", repeats.total());
        Map<String, @Nullable Object> kinds = new LinkedHashMap<>();
        for (FaultKind kind : FaultKind.values()) {
            List<Aftermath> those = of(kind);
            if (!those.isEmpty()) {
                Map<String, @Nullable Object> one = new LinkedHashMap<>();
                one.put("count", those.size());
                one.put("goneOnMedianMs", median(those, Aftermath::goneOnMs));
                one.put("goneOnMaxMs", max(those, Aftermath::goneOnMs));
                one.put("wellMedianMs", median(those, Aftermath::wellMs));
                one.put("wellMaxMs", max(those, Aftermath::wellMs));
                one.put("modelCallsRepeated", repeated(those));
                kinds.put(kind.label(), one);
            }
        }
        json.put("kinds", kinds);
        json.put("leftOut", leftOut);
        json.put("findings", findings);
        return json;
    }

    /**
     * For people.
     *
     * @param surroundings which sources, which JDK, which machine
     */
    public String toMarkdown(Map<String, ?> surroundings) {
        List<String> lines = new ArrayList<>();
        lines.add("# Crash report");
        lines.add("");
        lines.add("What `./millrace bench crash --faults " + settings.faults() + " --seed " + settings.seed()
                + " --tasks " + settings.tasks() + " --brokers " + settings.brokers()
                + "` did and found. The file is written by it.");
        lines.add("");
        lines.add(
                (settings.brokers() == 1 ? "One broker" : "Three brokers (replication 3, at least 2 in sync)")
                        + ", two agent-services (with standby replicas), tool-service, reflection-service and gateway, each a process");
        lines.add(
                "of its own, work on tasks of two model calls, a tool call, a memory call and a reflection each; half of the tasks come");
        lines.add(
                "through the gateway, half straight on a lane, several conversations at a time. One fault after the other strikes, of");
        lines.add(
                "each kind in a random order. After each fault, with the load going on, everything has to be well again within "
                        + settings.limit().toSeconds() + " s,");
        lines.add("and is checked.");
        lines.add("");
        lines.add("| | |");
        lines.add("|---|---|");
        row(lines, "verdict", passed() ? "**passed**" : "**failed**");
        for (String name : List.of("commit", "at", "jdk", "cores", "os")) {
            row(lines, name, String.valueOf(Objects.requireNonNullElse(surroundings.get(name), "?")));
        }
        row(lines, "seed", Long.toString(settings.seed()));
        row(lines, "took", counts.took().toMinutes() + " min " + counts.took().toSecondsPart() + " s");
        row(lines, "faults", aftermaths.size() + " of " + settings.faults());
        row(lines, "tasks accepted", Integer.toString(counts.accepted()));
        row(lines, "of which ended as completed", Integer.toString(counts.ended()));
        row(lines, "committed records in the journal", Long.toString(counts.records()));
        row(
                lines,
                "records beside them that nobody can accept, each found among the dead letters",
                Integer.toString(counts.hostile()));
        row(lines, "different model calls", Long.toString(repeats.calls()));
        row(lines, "of which repeated", Integer.toString(repeats.total()));
        row(lines, "runs of the idempotent tool", Integer.toString(counts.runs()));
        row(lines, "effects of it", Integer.toString(counts.effects()));
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
        lines.add("");
        lines.add("- every accepted task ended, once, as completed; on each partition tasks went on to end");
        lines.add("- no event id twice among the committed records of the journal, and each event's cause among them");
        lines.add("- the tasks of a conversation in the order in which they were accepted, one at a time");
        lines.add(
                "- the effect of the idempotent tool once per task, one entry per task in memory, each reflection done");
        lines.add(
                "- model calls of a task repeated at most once per crash, and once per orderly move of its partition");
        lines.add("- nothing in the dead letters but the records that nobody can accept, and all of those");
        lines.add("");
    }

    private void byKind(List<String> lines) {
        lines.add("## By kind");
        lines.add("");
        lines.add(
                "*Went on*: from the fault until tasks that were accepted after it had ended on all partitions. *All well*: from when");
        lines.add(
                "the fault was over (processes started, network or disk back) until every service was ready, every task from before had");
        lines.add("ended, and one from afterwards on every partition. Median and longest, in seconds.");
        lines.add("");
        lines.add(
                "| what happened | faults | tasks in flight | went on | all well | model calls repeated | most of one task |");
        lines.add("|---|---|---|---|---|---|---|");
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
        lines.add("## One by one");
        lines.add("");
        lines.add(
                "| # | fault | in flight | broken for | went on after | all well after | calls repeated | started again besides |");
        lines.add("|---|---|---|---|---|---|---|---|");
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

    private static void row(List<String> lines, String name, String value) {
        lines.add("| " + name + " | " + value + " |");
    }

    private static String seconds(long millis) {
        return millis < 0 ? "–" : String.format(Locale.ROOT, "%.1f", millis / 1000.0);
    }
}
