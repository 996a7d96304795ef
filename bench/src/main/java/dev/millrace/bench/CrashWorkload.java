package dev.millrace.bench;

import dev.millrace.bench.crash.CrashReport;
import dev.millrace.bench.crash.CrashRun;
import dev.millrace.bench.crash.CrashSettings;
import dev.millrace.bench.crash.FaultKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Kills, stops and cuts off processes at random while they work, and checks that every promise is kept. */
final class CrashWorkload implements Workload {

    @Option(names = "--faults", description = "How many things break, one after the other.")
    private int faults = 3 * FaultKind.values().length;

    @Option(names = "--seed", description = "Which, in which order, and for how long.")
    private int seed = 1;

    @Option(names = "--tasks", description = "In flight meanwhile.")
    private int tasks = 16;

    @Option(names = "--brokers", description = "1, or 3 with every topic on all of them.")
    private int brokers = 1;

    @Option(names = "--minutes", description = "After which nothing more is broken.")
    private int minutes = 60;

    @Option(
            names = "--only",
            split = ",",
            showDefaultValue = CommandLine.Help.Visibility.NEVER,
            description = "Kinds of faults with commas between, such as kill-agent,full-disk; else all.")
    private List<FaultKind> only = List.of(FaultKind.values());

    @Option(names = "--report", description = "Gets a report for people.")
    private @Nullable Path reportFile;

    @Option(names = "--folder", description = "Where data and logs go and stay; else a temporary one.")
    private @Nullable Path kept;

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
    public void run(Report report) throws Exception {
        Path folder = kept == null ? Files.createTempDirectory("millrace-crash-") : kept;
        CrashReport done = new CrashRun(
                        new CrashSettings(
                                faults, seed, tasks, brokers, only, folder, LIMIT, Duration.ofMinutes(minutes)),
                        report::progress)
                .run();
        report.row(done.summary());
        Files.writeString(
                reportFile == null ? folder.resolve("report.md") : reportFile, done.toMarkdown(Surroundings.now()));
        if (!done.passed()) {
            throw new IllegalStateException(
                    "not as promised (data and logs are in " + folder + "): " + String.join("; ", done.findings()));
        }
        if (kept == null) {
            Folders.delete(folder);
        }
    }
}
