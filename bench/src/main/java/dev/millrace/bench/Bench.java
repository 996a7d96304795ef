package dev.millrace.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.bench.CurvesWorkload.Curve;
import dev.millrace.bench.FleetOptions.Durabilities;
import dev.millrace.bench.FleetOptions.Modes;
import dev.millrace.bench.TaskWorkload.Ingress;
import dev.millrace.bench.crash.FaultKind;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * {@code ./millrace bench [WORKLOAD…] [--option value]…}: runs workloads, prints each result as one line of JSON on
 * standard output, and as a table on standard error, where it also says what it does meanwhile.
 */
@Command(
        name = "./millrace bench",
        description = {
            "Measures Millrace and prints each result as a line of JSON.",
            "Without a workload: floors, tasks, long, idle, recovery, backlog."
        },
        synopsisSubcommandLabel = "[WORKLOAD…]",
        commandListHeading = "%nWorkloads (`./millrace bench WORKLOAD… --help` lists their options):%n")
public final class Bench {

    private static final List<String> WHOLE_TABLE = List.of("floors", "tasks", "long", "idle", "recovery", "backlog");
    private static final int USAGE = 2;
    /** Held on to, because a logger that nobody holds forgets its level. */
    private static final Logger ROOT = Logger.getLogger("");

    @Option(names = "--out", paramLabel = "FILE", description = "Gets each result as a line of JSON as well.")
    private @Nullable Path out;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            defaultValue = "false", // and not what it was for the workload before
            showDefaultValue = CommandLine.Help.Visibility.NEVER,
            description = "Shows this help message and exits.")
    private boolean help;

    private final List<Workload> workloads = new ArrayList<>(TaskWorkload.all());

    /** With all workloads that there are. */
    Bench() {
        workloads.addAll(List.of(
                new FloorWorkload(),
                new LongWorkload(),
                new IdleWorkload(),
                new BacklogWorkload(),
                new StreamsWorkload(),
                new TextWorkload(),
                new RecoveryWorkload(),
                new QueueWorkload(),
                new PeersWorkload(),
                new TurnsWorkload(),
                new CurvesWorkload(),
                new CrashWorkload(),
                new MicroWorkload()));
    }

    /** Runs what the arguments say; ends with 2 if they say nothing that can be run, with 1 if a workload failed. */
    public static void main(String... args) {
        Bench bench = new Bench();
        int status;
        try {
            status = bench.run(bench.parse(List.of(args), new PrintWriter(System.out, true, StandardCharsets.UTF_8)));
        } catch (ParameterException e) {
            PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
            err.println("millrace bench: " + e.getMessage());
            UnmatchedArgumentException.printSuggestions(e, err);
            err.println("--help tells what there is.");
            status = USAGE;
        }
        System.exit(status); // clients of a broker that is gone need not be waited for
    }

    /**
     * Reads the command line into the workloads that it names, each of which takes what it knows.
     *
     * @return what to run, in this order; nothing if help was asked for, which it prints
     * @throws ParameterException if there is something that none of them knows
     */
    List<Workload> parse(List<String> args, PrintWriter text) {
        List<CommandLine> chosen = new ArrayList<>();
        int names = 0;
        while (names < args.size()
                && !args.get(names).startsWith("-")
                && (chosen.isEmpty()
                        || chosen.getLast()
                                .getCommandSpec()
                                .positionalParameters()
                                .isEmpty())) {
            chosen.add(named(args.get(names++)));
        }
        if (chosen.isEmpty() && (args.contains("--help") || args.contains("-h"))) {
            CommandLine whole = new CommandLine(this);
            workloads.forEach(workload -> whole.addSubcommand(workload.name(), commandLine(workload)));
            whole.usage(text);
            return List.of();
        }
        if (chosen.isEmpty()) {
            WHOLE_TABLE.forEach(name -> chosen.add(named(name)));
        }
        List<String> unknown = new ArrayList<>(args.subList(names, args.size()));
        String[] said = unknown.toArray(String[]::new);
        for (CommandLine workload : chosen) {
            unknown.retainAll(workload.parseArgs(said).unmatched());
            if (help) {
                workload.usage(text);
            }
        }
        if (!unknown.isEmpty()) {
            throw new UnmatchedArgumentException(chosen.getFirst(), unknown);
        }
        return help
                ? List.of()
                : chosen.stream().<Workload>map(CommandLine::getCommand).toList();
    }

    private CommandLine named(String name) {
        return workloads.stream()
                .filter(workload -> workload.name().equals(name))
                .findFirst()
                .map(this::commandLine)
                .orElseThrow(() -> new ParameterException(
                        new CommandLine(this),
                        "expected one of "
                                + workloads.stream().map(Workload::name).toList() + ", found " + name));
    }

    private CommandLine commandLine(Workload workload) {
        CommandLine line = new CommandLine(workload);
        line.getCommandSpec()
                .name("./millrace bench " + workload.name())
                .addMixin("every", CommandLine.Model.CommandSpec.forAnnotatedObject(this))
                .usageMessage()
                .showDefaultValues(true)
                .description(workload.summary());
        return line.setUnmatchedArgumentsAllowed(true)
                .registerConverter(int.class, Bench::number)
                .registerConverter(Ingress.class, oneOf(Ingress.values()))
                .registerConverter(Modes.class, oneOf(Modes.values()))
                .registerConverter(Durabilities.class, oneOf(Durabilities.values()))
                .registerConverter(Contender.class, oneOf(Contender.values()))
                .registerConverter(Curve.class, oneOf(Curve.values()))
                .registerConverter(FaultKind.class, oneOf(FaultKind.values()));
    }

    /** Reads constants as people write them: {@code kill-agent}. */
    private static <E extends Enum<E>> ITypeConverter<E> oneOf(E[] all) {
        Map<String, E> labels = new LinkedHashMap<>();
        Arrays.stream(all)
                .forEach(one -> labels.put(one.name().toLowerCase(Locale.ROOT).replace('_', '-'), one));
        return label -> {
            E one = labels.get(label);
            if (one == null) {
                throw new TypeConversionException("expected one of " + labels.keySet() + ", found " + label);
            }
            return one;
        };
    }

    private static int number(String text) {
        try {
            return Integer.parseUnsignedInt(text);
        } catch (NumberFormatException e) {
            throw new TypeConversionException("expected a number, found " + text);
        }
    }

    private int run(List<Workload> chosen) {
        ROOT.setLevel(Level.SEVERE);
        int failed = 0;
        for (Workload workload : chosen) {
            try {
                workload.run(new Printed(workload.name(), out));
            } catch (Exception | AssertionError e) {
                System.err.println("millrace bench: " + workload.name() + " failed");
                e.printStackTrace();
                failed = 1;
            }
        }
        return failed;
    }

    /** Says everything at once. */
    private record Printed(String workload, @Nullable Path file) implements Report {

        @Override
        public void progress(String line) {
            System.err.println(line);
        }

        @Override
        public void row(Record result) {
            ObjectNode whole = Json.MAPPER.createObjectNode().put("workload", workload);
            whole.setAll(Json.MAPPER.<ObjectNode>valueToTree(Surroundings.now()));
            whole.setAll(Json.MAPPER.<ObjectNode>valueToTree(result));
            String line = Json.writeText(whole);
            System.out.println(line);
            print(whole, "", System.err);
            if (file != null) {
                try {
                    Files.writeString(
                            file,
                            line + '\n',
                            StandardCharsets.UTF_8,
                            StandardOpenOption.CREATE,
                            StandardOpenOption.APPEND);
                } catch (IOException e) {
                    throw new UncheckedIOException("could not write to " + file, e);
                }
            }
        }

        private static void print(ObjectNode json, String indent, PrintStream out) {
            json.properties().forEach(field -> {
                if (field.getValue() instanceof ObjectNode nested) {
                    out.println(indent + field.getKey());
                    print(nested, indent + "  ", out);
                } else {
                    out.printf(
                            "%s%-24s %s%n",
                            indent,
                            field.getKey(),
                            field.getValue().asText(field.getValue().toString()));
                }
            });
        }
    }
}
