package dev.millrace.bench;

import dev.millrace.schemas.Json;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * {@code ./millrace bench [WORKLOAD…] [--option value]…}: runs workloads, prints each result as one line of JSON on
 * standard output, and as a table on standard error, where it also says what it does meanwhile.
 */
public final class Bench {

    private static final Option OUT = new Option("out", "", "a file that gets each result as a line of JSON as well");
    private static final List<String> WHOLE_TABLE = List.of("floors", "tasks", "long", "idle", "recovery", "backlog");
    private static final int USAGE = 2;
    /** Held on to, because a logger that nobody holds forgets its level. */
    private static final Logger ROOT = Logger.getLogger("");

    private Bench() {}

    /** Runs what the arguments say; ends with 2 if they say nothing that can be run, with 1 if a workload failed. */
    public static void main(String... args) {
        System.exit(run(List.of(args))); // clients of a broker that is gone need not be waited for
    }

    private static List<Workload> workloads() {
        List<Workload> workloads = new ArrayList<>(TaskWorkload.all());
        workloads.addAll(List.of(
                new FloorWorkload(),
                new LongWorkload(),
                new IdleWorkload(),
                new BacklogWorkload(),
                new StreamsWorkload(),
                new RecoveryWorkload(),
                new CrashWorkload(),
                new MicroWorkload()));
        return workloads;
    }

    private static int run(List<String> args) {
        int names = 0;
        while (names < args.size() && !args.get(names).startsWith("-")) {
            names++;
        }
        List<Workload> chosen;
        Options options;
        try {
            if (args.contains("--help") || args.contains("-h")) {
                usage(System.out);
                return 0;
            }
            chosen = find(names == 0 ? WHOLE_TABLE : args.subList(0, names));
            options = Options.parse(args.subList(names, args.size()));
            List<Option> known = new ArrayList<>(List.of(OUT));
            chosen.forEach(workload -> known.addAll(workload.options()));
            options.requireKnown(known);
        } catch (IllegalArgumentException e) {
            System.err.println("millrace bench: " + e.getMessage() + ". --help tells what there is.");
            return USAGE;
        }
        ROOT.setLevel(Level.SEVERE);
        int failed = 0;
        for (Workload workload : chosen) {
            try {
                workload.run(options, new Printed(workload.name(), options.text(OUT)));
            } catch (Exception | AssertionError e) {
                System.err.println("millrace bench: " + workload.name() + " failed");
                e.printStackTrace();
                failed = 1;
            }
        }
        return failed;
    }

    private static List<Workload> find(List<String> names) {
        List<Workload> known = workloads();
        return names.stream()
                .map(name -> known.stream()
                        .filter(workload -> workload.name().equals(name))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("expected one of "
                                + known.stream().map(Workload::name).toList() + ", found " + name)))
                .toList();
    }

    private static void usage(PrintStream out) {
        out.println("Usage: ./millrace bench [WORKLOAD…] [--option value]…");
        out.println();
        out.println("Without a workload: " + String.join(", ", WHOLE_TABLE) + ".");
        Map<Option, List<String>> options = new LinkedHashMap<>();
        options.put(OUT, List.of());
        for (Workload workload : workloads()) {
            out.printf("  %-10s %s%n", workload.name(), workload.summary());
            workload.options()
                    .forEach(option -> options.computeIfAbsent(option, ignored -> new ArrayList<>())
                            .add(workload.name()));
        }
        out.println();
        options.forEach((option, of) -> out.printf(
                "  --%-12s %s%s%s%n",
                option.name(),
                option.summary(),
                option.otherwise().isEmpty() ? "" : " (default: " + option.otherwise() + ")",
                of.isEmpty() ? "" : " [" + String.join(", ", of) + "]"));
    }

    /** Says everything at once. */
    private record Printed(String workload, String file) implements Report {

        @Override
        public void progress(String line) {
            System.err.println(line);
        }

        @Override
        public void row(Map<String, @Nullable Object> result) {
            Map<String, @Nullable Object> whole = new LinkedHashMap<>();
            whole.put("workload", workload);
            whole.putAll(Surroundings.describe());
            whole.putAll(result);
            String line = Json.writeText(whole);
            System.out.println(line);
            print(whole, "", System.err);
            if (!file.isEmpty()) {
                try {
                    Files.writeString(
                            Path.of(file),
                            line + '\n',
                            StandardCharsets.UTF_8,
                            StandardOpenOption.CREATE,
                            StandardOpenOption.APPEND);
                } catch (IOException e) {
                    throw new UncheckedIOException("could not write to " + file, e);
                }
            }
        }

        private static void print(Map<?, ?> json, String indent, PrintStream out) {
            json.forEach((name, value) -> {
                if (value instanceof Map<?, ?> nested) {
                    out.println(indent + name);
                    print(nested, indent + "  ", out);
                } else {
                    out.printf("%s%-24s %s%n", indent, name, value);
                }
            });
        }
    }
}
