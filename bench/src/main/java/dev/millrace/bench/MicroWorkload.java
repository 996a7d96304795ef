package dev.millrace.bench;

import java.util.LinkedHashMap;
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

/** The benchmarks of {@link dev.millrace.bench.micro}, by JMH: no broker, one thread, each in a JVM of its own. */
final class MicroWorkload implements Workload {

    private static final Option FILTER =
            new Option("filter", "", "a regular expression that the names of benchmarks have to contain");
    private static final Option FORKS = new Option("forks", "1", "in how many JVMs each benchmark runs");
    private static final Option SECONDS = new Option(
            "seconds", "1", "of each of a benchmark's iterations, of which 5 are to warm up and 5 are measured");

    private static final int ITERATIONS = 5;
    private static final String ALLOCATED = "gc.alloc.rate.norm";

    @Override
    public String name() {
        return "micro";
    }

    @Override
    public String summary() {
        return "transitions of the machine, the codec of events, rows of the stores: time and allocation of each call";
    }

    @Override
    public List<Option> options() {
        return List.of(FILTER, FORKS, SECONDS);
    }

    @Override
    public void run(Options options, Report report) throws RunnerException {
        List<String> names = names(options.text(FILTER));
        if (names.isEmpty()) {
            throw new IllegalArgumentException(
                    "--filter: expected a part of one of " + names("") + ", found " + options.text(FILTER));
        }
        for (String name : names) {
            // one at a time, so that its rows are there when it is done
            new Runner(
                            new OptionsBuilder()
                                    .include('^' + Pattern.quote(name) + '$')
                                    .forks(options.number(FORKS))
                                    .warmupIterations(ITERATIONS)
                                    .warmupTime(TimeValue.seconds(options.number(SECONDS)))
                                    .measurementIterations(ITERATIONS)
                                    .measurementTime(TimeValue.seconds(options.number(SECONDS)))
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

    private static Map<String, @Nullable Object> row(RunResult run) {
        Map<String, String> params = new TreeMap<>();
        run.getParams()
                .getParamsKeys()
                .forEach(key -> params.put(key, run.getParams().getParam(key)));
        Result<?> time = run.getPrimaryResult();
        String name = run.getParams().getBenchmark();
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("benchmark", name.substring(name.lastIndexOf('.', name.lastIndexOf('.') - 1) + 1));
        row.put("params", params);
        row.put("mode", run.getParams().getMode().shortLabel());
        row.put("score", rounded(time.getScore()));
        row.put("error", rounded(time.getScoreError()));
        row.put("unit", time.getScoreUnit());
        Result<?> allocated = run.getSecondaryResults().get(ALLOCATED);
        row.put("allocatedBytes", allocated == null ? null : Math.round(allocated.getScore()));
        return row;
    }

    /** To a thousandth; {@code null} for what is no number, as the error of a single measurement is. */
    private static @Nullable Double rounded(double value) {
        return Double.isNaN(value) ? null : Math.round(value * 1_000) / 1_000.0;
    }

    private static OutputFormat output(VerboseMode mode) {
        return OutputFormatFactory.createFormatInstance(System.err, mode);
    }
}
