package dev.millrace.bench;

import dev.millrace.testing.FreePort;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Two builds of Millrace that run at the same time and are given tasks by turns, some seconds each, over HTTP: what the
 * machine does meanwhile happens to both of them. What counts is the median of what each turn of the second gives
 * beside that of the first. Two processes of one build are within a hundredth or two of each other; two builds, each
 * with an archive of its own, may be nearly a tenth apart without a change that explains it.
 */
final class TurnsWorkload implements Workload {

    @Parameters(
            arity = "2",
            paramLabel = "CLONE",
            description = "Two clones of Millrace, both built with `./millrace build`: before and after a change.")
    private List<Path> clones = List.of();

    @Option(names = "--in-flight", split = ",", description = "Tasks at the same time, one row each.")
    private List<Integer> inFlight = List.of(1, 8);

    @Option(names = "--turns", description = "How often each of them has its turn.")
    private int turns = 20;

    @Mixin
    private Measurement.Times times = new Measurement.Times(2, 60);

    /**
     * A row of the results, medians of all turns.
     *
     * @param ratio of the second to the first, the median of those of each two turns
     */
    record Row(int inFlight, int turns, Figures before, Figures after, Figures ratio) {}

    /** Of one turn, or a median of many. */
    record Figures(double tasksPerSecond, double p50Ms, double cpuMsPerTask) {

        Figures over(Figures other) {
            return new Figures(
                    tasksPerSecond / other.tasksPerSecond, p50Ms / other.p50Ms, cpuMsPerTask / other.cpuMsPerTask);
        }

        /** Figure by figure, rounded to this fraction of one. */
        static Figures median(List<Figures> all, int fraction) {
            return new Figures(
                    median(all, fraction, Figures::tasksPerSecond),
                    median(all, fraction, Figures::p50Ms),
                    median(all, fraction, Figures::cpuMsPerTask));
        }

        private static double median(List<Figures> all, int fraction, ToDoubleFunction<Figures> figure) {
            return Rounded.to(fraction, Rounded.median(all.stream().mapToDouble(figure)));
        }
    }

    /** One of the two, which runs. */
    private record Side(long pid, HttpDriver driver) implements AutoCloseable {

        static Side start(PeerProcesses processes, String name, Path clone, Path script)
                throws IOException, InterruptedException {
            Path launcher = clone.resolve("millrace").toAbsolutePath();
            if (!Files.isExecutable(launcher)) {
                throw new IllegalArgumentException("expected a clone of Millrace with its launcher, found " + clone);
            }
            int port = FreePort.find();
            Map<String, String> environment = new LinkedHashMap<>(Fleet.NO_LIMITS);
            environment.put("MILLRACE_AGENT_REFLECTION_ENABLED", "false");
            List<String> command = List.of(
                    launcher.toString(),
                    "up",
                    "--port",
                    Integer.toString(port),
                    "--kafka-port",
                    Integer.toString(FreePort.find()),
                    "--data",
                    processes.folder().resolve(name).toString(),
                    "--script",
                    script.toString());
            long pid = processes.start(name, command, environment).pid();
            processes.awaitAnswer(HttpRequest.newBuilder(PeerProcesses.local(port, "/q/health/ready"))
                    .build());
            return new Side(pid, new HttpDriver(PeerProcesses.local(port, ""), "go"));
        }

        Figures turn(int tasks, int seconds) throws InterruptedException {
            Footprint costs = costs();
            long begun = System.nanoTime();
            driver.startNoting();
            driver.keep(tasks, seconds);
            driver.rest();
            Latencies noted = driver.noted();
            double took = (System.nanoTime() - begun) / 1e9;
            return new Figures(
                    noted.count() / took, noted.summary().p50Ms(), costs().allCpuMsSince(costs) / noted.count());
        }

        private Footprint costs() {
            return Footprint.of(Map.of("millrace", pid));
        }

        @Override
        public void close() {
            driver.close();
        }
    }

    /** A turn of each. */
    private record Turn(Figures before, Figures after) {}

    @Override
    public String name() {
        return "turns";
    }

    @Override
    public String summary() {
        return "two builds at the same time, given tasks by turns: what a change is worth";
    }

    @Override
    public void run(Report report) throws Exception {
        if (turns < 1 || times.seconds() < 1) {
            throw new IllegalArgumentException(
                    "--turns and --seconds: expected 1 or more, found " + turns + " and " + times.seconds());
        }
        try (PeerProcesses processes = new PeerProcesses()) {
            Path script = Files.writeString(processes.folder().resolve("script.yaml"), TaskWorkload.SCRIPT);
            report.progress("turns: starting");
            try (Side before = Side.start(processes, "before", clones.getFirst(), script);
                    Side after = Side.start(processes, "after", clones.getLast(), script)) {
                for (int tasks : inFlight) {
                    report.progress("turns: warming up with " + tasks + " in flight");
                    turns(before, after, tasks, Math.ceilDiv(times.warmUp(), 2 * times.seconds()));
                    report.progress("turns: measuring with " + tasks + " in flight");
                    List<Turn> all = turns(before, after, tasks, turns);
                    report.row(new Row(
                            tasks,
                            turns,
                            Figures.median(all.stream().map(Turn::before).toList(), 100),
                            Figures.median(all.stream().map(Turn::after).toList(), 100),
                            Figures.median(
                                    all.stream()
                                            .map(turn -> turn.after().over(turn.before()))
                                            .toList(),
                                    1_000)));
                }
            }
        }
    }

    /** So many turns of each; the one that begins is the other one each time. */
    private List<Turn> turns(Side before, Side after, int tasks, int count) throws InterruptedException {
        List<Turn> all = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            if (number % 2 == 0) {
                Figures first = before.turn(tasks, times.seconds());
                all.add(new Turn(first, after.turn(tasks, times.seconds())));
            } else {
                Figures first = after.turn(tasks, times.seconds());
                all.add(new Turn(before.turn(tasks, times.seconds()), first));
            }
        }
        return all;
    }
}
