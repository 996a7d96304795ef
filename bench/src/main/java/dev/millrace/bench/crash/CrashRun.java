package dev.millrace.bench.crash;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Breaks an installation, thing by thing, while it works on tasks, and checks after each fault and once more at the
 * end: every accepted task ends, and as completed; no event id is twice in the journal; an idempotent tool has had one
 * effect per task, and memory one entry; model calls are repeated no more often than promised; the tasks of a session
 * are taken in their order, one at a time; no partition is stuck; nothing went to the dead letters.
 */
public final class CrashRun {

    private static final Duration POLL = Duration.ofMillis(50);
    /** So often what has ended is started again, and services are asked how they are. */
    private static final Duration LOOK = Duration.ofMillis(500);

    private final CrashSettings settings;
    private final Consumer<String> progress;
    private final Findings findings = new Findings();
    private final Ledger ledger = new Ledger();
    private final NavigableMap<Instant, Fault> struck = new TreeMap<>();
    private final List<Aftermath> aftermaths = new ArrayList<>();
    private final List<String> leftOut = new ArrayList<>();

    /**
     * A run that has not begun.
     *
     * @param progress gets lines for people
     */
    public CrashRun(CrashSettings settings, Consumer<String> progress) {
        this.settings = settings;
        this.progress = progress;
    }

    /**
     * Does it, once.
     *
     * @return what was done and found; ask it whether all was as promised
     */
    public CrashReport run() throws IOException, InterruptedException, ExecutionException {
        long begun = System.nanoTime();
        long records = 0;
        int hostileRecords = 0;
        try (Installation installation = new Installation(settings.folder(), settings.brokers())) {
            List<Fault> faults = Fault.plan(settings.seed(), settings.faults(), possible(installation));
            installation.start();
            progress.accept("ready after " + seconds(millisSince(begun)) + " s");
            JournalAudit audit =
                    new JournalAudit(installation.bootstrapServers(), installation.topics(), ledger, findings);
            Load load = new Load(
                    new Load.Settings(
                            installation.bootstrapServers(),
                            installation.topics(),
                            Installation.PARTITIONS,
                            installation.gateway(),
                            settings.tasks(),
                            settings.seed()),
                    ledger,
                    findings);
            try (audit) {
                HostileSender hostile =
                        new HostileSender(installation.bootstrapServers(), installation.topics(), settings.seed());
                try (load;
                        hostile) {
                    load.start();
                    strikeAll(installation, faults);
                }
                if (findings.isEmpty()) {
                    awaitWell(installation, System.nanoTime(), false);
                    awaitReflections(audit);
                    awaitHostile(audit, hostile.acknowledged());
                }
                hostileRecords = hostile.acknowledged().size();
                records = audit.records();
            }
            if (findings.isEmpty()) {
                audit.findMissingCauses();
                checkEffects(installation);
                new MemoryAudit(installation.bootstrapServers(), installation.topics()).check(ledger, findings);
            }
            Repeats repeats = Repeats.count(installation.callLogs().attempts(), struck, new Findings());
            return new CrashReport(
                    settings,
                    new CrashReport.Counts(
                            ledger.accepted().size(),
                            (int) ledger.accepted().stream()
                                    .filter(ledger::hasEnded)
                                    .count(),
                            records,
                            hostileRecords,
                            effects(installation).size(),
                            runs(installation),
                            Duration.ofNanos(System.nanoTime() - begun)),
                    aftermaths,
                    repeats,
                    leftOut,
                    findings.all());
        }
    }

    private List<FaultKind> possible(Installation installation) throws IOException, InterruptedException {
        if (settings.kinds().stream().anyMatch(kind -> kind.needs() == FaultKind.Needs.OWN_DISK)) {
            installation.mountDisk();
        }
        List<FaultKind> possible = new ArrayList<>();
        for (FaultKind kind : settings.kinds()) {
            if (installation.allows(kind)) {
                possible.add(kind);
            } else {
                leftOut.add(kind.label());
                progress.accept("SKIPPED " + kind.label() + ": this machine does not allow it ("
                        + (kind.needs() == FaultKind.Needs.OWN_DISK
                                ? "the right to mount"
                                : "loopback addresses besides 127.0.0.1")
                        + " is missing)");
            }
        }
        if (possible.isEmpty()) {
            throw new IllegalArgumentException("this machine allows none of " + settings.kinds());
        }
        return possible;
    }

    private void strikeAll(Installation installation, List<Fault> faults) throws IOException, InterruptedException {
        Strike strike = new Strike(installation);
        long begun = System.nanoTime();
        awaitWell(installation, System.nanoTime(), true);
        for (Fault fault : faults) {
            if (!findings.isEmpty()
                    || System.nanoTime() - begun > settings.time().toNanos()) {
                return;
            }
            Thread.sleep(fault.before());
            int open = ledger.openSince(System.nanoTime()).size();
            Instant at = Instant.now();
            long struckAt = System.nanoTime();
            struck.put(at, fault);
            try {
                strike.carryOut(fault);
            } catch (AssertionError e) { // a process that does not start or end says so in this way
                findings.add(
                        "fault " + fault.number() + " (" + fault.kind().label() + ") carried out",
                        String.valueOf(e.getMessage()));
                return;
            }
            long mendedAt = System.nanoTime();
            awaitWell(installation, mendedAt, true);
            long wellMs = millisSince(mendedAt);
            Long goneOnAt = ledger.goneOnAfter(struckAt, Installation.PARTITIONS);
            Aftermath aftermath = new Aftermath(
                    fault,
                    installation.describe(fault),
                    at,
                    (mendedAt - struckAt) / 1_000_000,
                    goneOnAt == null ? -1 : (goneOnAt - struckAt) / 1_000_000,
                    wellMs,
                    open,
                    installation.takeRestarts());
            aftermaths.add(aftermath);
            Repeats repeats = Repeats.count(installation.callLogs().attempts(), struck, findings);
            checkEffects(installation);
            tell(aftermath, repeats, faults.size());
        }
    }

    /**
     * Waits until all services are ready, what was accepted before a moment has ended, and, if the load goes on,
     * something that was accepted later has ended on every partition.
     */
    private void awaitWell(Installation installation, long moment, boolean loaded)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + settings.limit().toNanos();
        long nextLook = System.nanoTime();
        String wrong = "nothing was looked at";
        while (findings.isEmpty() && System.nanoTime() - deadline < 0) {
            List<Ledger.Task> open = ledger.openSince(moment);
            if (!open.isEmpty()) {
                wrong = open.size() + " tasks open, such as " + open.getFirst().id();
            } else if (loaded && ledger.goneOnAfter(moment, Installation.PARTITIONS) == null) {
                wrong = "a partition on which no task has ended";
            } else {
                Optional<String> notReady = notReady(installation);
                if (notReady.isEmpty()) {
                    return;
                }
                wrong = notReady.get();
            }
            if (System.nanoTime() - nextLook > 0) {
                installation.supervise();
                nextLook = System.nanoTime() + LOOK.toNanos();
            }
            Thread.sleep(POLL);
        }
        if (findings.isEmpty()) {
            findings.add("all well within " + settings.limit().toSeconds() + " s", wrong);
        }
    }

    private static Optional<String> notReady(Installation installation) throws InterruptedException {
        for (Part part : installation.parts()) {
            Optional<String> why = installation.notReady(part);
            if (why.isPresent()) {
                return why;
            }
        }
        return Optional.empty();
    }

    private void awaitReflections(JournalAudit audit) throws InterruptedException {
        long deadline = System.nanoTime() + settings.limit().toNanos();
        while (findings.isEmpty() && !audit.openReflections().isEmpty()) {
            if (System.nanoTime() - deadline > 0) {
                findings.add("every reflection done", "open ones: " + audit.openReflections());
            }
            Thread.sleep(POLL);
        }
    }

    private void awaitHostile(JournalAudit audit, Set<Integer> acknowledged) throws InterruptedException {
        long deadline = System.nanoTime() + settings.limit().toNanos();
        while (findings.isEmpty() && !audit.missing(acknowledged).isEmpty()) {
            if (System.nanoTime() - deadline > 0) {
                findings.add(
                        "each of " + acknowledged.size() + " hostile records among the dead letters",
                        "these not: " + audit.missing(acknowledged));
            }
            Thread.sleep(POLL);
        }
    }

    /** One effect for every task that has ended, and at most one for those that have not. */
    private void checkEffects(Installation installation) throws IOException {
        Map<String, List<String>> byTask =
                effects(installation).stream().collect(Collectors.groupingBy(CrashRun::taskOf));
        byTask.forEach((task, effects) -> {
            if (effects.size() > 1) {
                findings.add("one effect of task " + task, effects.toString());
            }
        });
        for (Ledger.Task task : ledger.accepted()) {
            if (ledger.hasEnded(task) && !byTask.containsKey(task.id())) {
                findings.add("one effect of task " + task.id(), "none");
            }
        }
    }

    private static List<String> effects(Installation installation) throws IOException {
        try (Stream<Path> files = Files.list(installation.effects())) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.equals(EffectTool.RUNS))
                    .toList();
        }
    }

    private static String taskOf(String effect) {
        return URLDecoder.decode(effect.substring(0, effect.indexOf('~')), StandardCharsets.UTF_8);
    }

    private static int runs(Installation installation) throws IOException {
        Path log = installation.effects().resolve(EffectTool.RUNS);
        return Files.exists(log) ? Files.readAllLines(log).size() : 0;
    }

    private void tell(Aftermath aftermath, Repeats repeats, int of) {
        Fault fault = aftermath.fault();
        progress.accept(
                "fault %d of %d: %s, %d tasks in flight, broken for %s s; went on after %s s, all well %s s after it was mended; %d calls repeated%s"
                        .formatted(
                                fault.number(),
                                of,
                                aftermath.what(),
                                aftermath.openAtStrike(),
                                seconds(aftermath.brokenMs()),
                                seconds(aftermath.goneOnMs()),
                                seconds(aftermath.wellMs()),
                                repeats.after(fault),
                                aftermath.restarts().isEmpty() ? "" : "; started again: " + aftermath.restarts()));
        findings.all().forEach(finding -> progress.accept("  NOT AS PROMISED: " + finding));
    }

    private static long millisSince(long moment) {
        return (System.nanoTime() - moment) / 1_000_000;
    }

    private static String seconds(long millis) {
        return String.valueOf(Math.round(millis / 100.0) / 10.0);
    }
}
