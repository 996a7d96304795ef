package dev.millrace.bench;

import dev.millrace.bench.crash.CrashReport;
import dev.millrace.bench.crash.CrashRun;
import dev.millrace.bench.crash.CrashSettings;
import dev.millrace.bench.crash.FaultKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** Kills, stops and cuts off processes at random while they work, and checks that every promise is kept. */
final class CrashWorkload implements Workload {

    private static final Option FAULTS = new Option("faults", "54", "how many things break, one after the other");
    private static final Option SEED = new Option("seed", "1", "which, in which order, and for how long");
    private static final Option TASKS = new Option("tasks", "16", "in flight meanwhile");
    private static final Option BROKERS = new Option("brokers", "1", "1, or 3 with every topic on all of them");
    private static final Option ONLY =
            new Option("only", "", "kinds of faults with commas between, such as kill-agent,full-disk; else all");
    private static final Option MINUTES = new Option("minutes", "60", "after which nothing more is broken");
    private static final Option REPORT = new Option("report", "", "a file that gets a report for people");
    private static final Option FOLDER =
            new Option("folder", "", "where data and logs go and stay; else a temporary one");

    /** A start of everything takes a good part of it on a busy machine. */
    private static final Duration LIMIT = Duration.ofSeconds(150);

    @Override
    public String name() {
        return "crash";
    }

    @Override
    public String summary() {
        return "what is left of the promises when processes, disks and networks break under load";
    }

    @Override
    public List<Option> options() {
        return List.of(FAULTS, SEED, TASKS, BROKERS, MINUTES, ONLY, REPORT, FOLDER);
    }

    @Override
    public void run(Options options, Report report) throws Exception {
        String kept = options.text(FOLDER);
        String only = options.text(ONLY);
        Path folder = kept.isEmpty() ? Files.createTempDirectory("millrace-crash-") : Path.of(kept);
        CrashReport done = new CrashRun(
                        new CrashSettings(
                                options.number(FAULTS),
                                options.number(SEED),
                                options.number(TASKS),
                                options.number(BROKERS),
                                only.isEmpty()
                                        ? List.of(FaultKind.values())
                                        : Arrays.stream(only.split(","))
                                                .map(FaultKind::of)
                                                .toList(),
                                folder,
                                LIMIT,
                                Duration.ofMinutes(options.number(MINUTES))),
                        report::progress)
                .run();
        report.row(done.toJson());
        String file = options.text(REPORT);
        Files.writeString(
                file.isEmpty() ? folder.resolve("report.md") : Path.of(file), done.toMarkdown(Surroundings.describe()));
        if (!done.passed()) {
            throw new IllegalStateException(
                    "not as promised (data and logs are in " + folder + "): " + String.join("; ", done.findings()));
        }
        if (kept.isEmpty()) {
            Folders.delete(folder);
        }
    }
}
