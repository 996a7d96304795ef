package dev.millrace.bench;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormat;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine.Option;

/** The benchmarks of {@link dev.millrace.bench.micro}, by JMH: no broker, one thread, each in a JVM of its own. */
final class MicroWorkload implements Workload {

    private static final int ITERATIONS = 5;
    private static final String ALLOCATED = "gc.alloc.rate.norm";

    @Option(names = "--filter", description = "A regular expression that the names of benchmarks have to contain.")
    private String filter = "";

    @Option(names = "--forks", description = "In how many JVMs each benchmark runs.")
    private int forks = 1;

    @Option(
            names = "--seconds",
            description = "Of each of a benchmark's iterations, of which 5 are to warm up and 5 are measured.")
    private int seconds = 1;

    /**
     * A row of the results.
     *
     * @param error absent for a single measurement
     */
    private record Row(
            String benchmark,
            Map<String, String> params,
            String mode,
            @Nullable Double score,
            @Nullable Double error,
            String unit,
            @Nullable Long allocatedBytes) {}

    @Override
    public String name() {
        return "micro";
    }

    @Override
    public String summary() {
        return "transitions of the machine, the codec of events, rows of the stores: time and allocation of each call";
    }

    @Override
    public void run(Report report) throws RunnerException {
        List<String> names = names(filter);
        if (names.isEmpty()) {
            throw new IllegalArgumentException(
                    "--filter: expected a part of one of " + names("") + ", found " + filter);
        }
        for (String name : names) {
            // one at a time, so that its rows are there when it is done
            new Runner(
                            new OptionsBuilder()
                                    .include('^' + Pattern.quote(name) + '$')
                                    .forks(forks)
                                    .warmupIterations(ITERATIONS)
                                    .warmupTime(TimeValue.seconds(seconds))
                                    .measurementIterations(ITERATIONS)
                                    .measurementTime(TimeValue.seconds(seconds))
                                    .addProfiler(GCProfiler.class)
                                    .shouldFailOnError(true)
                                    .build(),
                            output(VerboseMode.NORMAL))
                    .run()
                    .forEach(result -> report.row(row(result)));
        }
    }

    /** The benchmarks whose whole names contain this expression. */
    static List<String> names(String filter) {
        return BenchmarkList.defaultList().find(output(VerboseMode.SILENT), List.of(filter), List.of()).stream()
                .map(BenchmarkListEntry::getUsername)
                .toList();
    }

    private static Row row(RunResult run) {
        Map<String, String> params = new TreeMap<>();
        run.getParams()
                .getParamsKeys()
                .forEach(key -> params.put(key, run.getParams().getParam(key)));
        Result<?> time = run.getPrimaryResult();
        String name = run.getParams().getBenchmark();
        Result<?> allocated = run.getSecondaryResults().get(ALLOCATED);
        return new Row(
                name.substring(name.lastIndexOf('.', name.lastIndexOf('.') - 1) + 1),
                params,
                run.getParams().getMode().shortLabel(),
                rounded(time.getScore()),
                rounded(time.getScoreError()),
                time.getScoreUnit(),
                allocated == null ? null : Math.round(allocated.getScore()));
    }

    /** To a thousandth; {@code null} for what is no number, as the error of a single measurement is. */
    private static @Nullable Double rounded(double value) {
        return Double.isNaN(value) ? null : Rounded.to(1_000, value);
    }

    private static OutputFormat output(VerboseMode mode) {
        return OutputFormatFactory.createFormatInstance(System.err, mode);
    }
}
