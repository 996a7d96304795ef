package dev.millrace.bench;

import dev.millrace.schemas.Json;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * {@code ./millrace bench WORKLOAD [--option value]…}: runs a workload, prints its result as one line of JSON on standard
 * output and as a table on standard error.
 */
public final class Bench {

    private static final List<Workload> WORKLOADS = List.of(new BacklogWorkload(), new StreamsWorkload());
    /** Held on to, because a logger that nobody holds forgets its level. */
    private static final Logger ROOT = Logger.getLogger("");

    private Bench() {}

    /** Runs what the arguments say; ends with 2 if they say nothing that can be run. */
    public static void main(String... args) throws Exception {
        Workload workload = args.length == 0 ? null : find(args[0]);
        if (workload == null) {
            System.err.println("Workloads:");
            WORKLOADS.forEach(known -> System.err.println("  " + known.name() + "  " + known.summary()));
            System.exit(2);
            return;
        }
        ROOT.setLevel(Level.SEVERE);
        Map<String, @Nullable Object> report = new LinkedHashMap<>();
        report.put("workload", workload.name());
        report.putAll(Surroundings.describe());
        report.putAll(workload.run(Options.parse(Arrays.copyOfRange(args, 1, args.length))));
        System.out.println(Json.writeText(report));
        print(report, "", System.err);
        System.exit(0); // clients of a broker that is gone need not be waited for
    }

    private static @Nullable Workload find(String name) {
        return WORKLOADS.stream()
                .filter(workload -> workload.name().equals(name))
                .findFirst()
                .orElse(null);
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
