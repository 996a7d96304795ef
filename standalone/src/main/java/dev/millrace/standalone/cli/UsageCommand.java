package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.UsageSums;
import dev.millrace.schemas.Json;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace usage}: what model calls have used, as a table. */
@Command(name = "usage", description = "Shows what model calls have used in a running Millrace, in tokens and dollars.")
public final class UsageCommand implements Callable<Integer> {

    private static final Map<String, String> FIELDS = Map.of("session", "sessionId", "task", "taskId");
    private static final String NONE = "-";

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    @Option(
            names = "--by",
            paramLabel = "WHAT",
            split = ",",
            description = "One line for each namespace, session, task, agent, model, hour or day; several with commas"
                    + " (default: agent,model).")
    private List<String> by = List.of("agent", "model");

    @Option(names = "--from", paramLabel = "WHEN", description = "Since this day or moment, such as 2026-01-31.")
    private @Nullable String from;

    @Option(names = "--to", paramLabel = "WHEN", description = "Before this day or moment.")
    private @Nullable String to;

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            description = "Of this tenant (default: default); '*' = of all.")
    private @Nullable String namespace;

    @Option(names = "--session", paramLabel = "ID", description = "Of one conversation only.")
    private @Nullable String session;

    @Option(names = "--task", paramLabel = "ID", description = "Of one task only.")
    private @Nullable String task;

    @Option(names = "--agent", paramLabel = "NAME", description = "Of one agent only.")
    private @Nullable String agent;

    @Option(names = "--model", paramLabel = "NAME", description = "Of one model only.")
    private @Nullable String model;

    private final Terminal terminal;

    /** For picocli. */
    public UsageCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Query query = new Query("/v1/usage")
                .with("groupBy", String.join(",", by))
                .with("from", from)
                .with("to", to)
                .with("namespace", namespace)
                .with("sessionId", session)
                .with("taskId", task)
                .with("agent", agent)
                .with("model", model);
        try (GatewayClient client = gateway.client()) {
            JsonNode report = client.get(query.toString());
            output.print(terminal, report.path("groups"), "No model calls.", () -> table(report));
            notes(sums(report.path("total"))).forEach(terminal.err()::println);
            return ExitCodes.DONE;
        }
    }

    private List<String> table(JsonNode report) {
        Table table = new Table(Stream.concat(
                        by.stream().map(name -> name.strip().toUpperCase(Locale.ROOT)),
                        Stream.of("CALLS", "INPUT", "CACHED", "OUTPUT", "REASONING", "DOLLARS"))
                .toArray(String[]::new));
        for (JsonNode group : report.path("groups")) {
            List<String> cells = new ArrayList<>();
            by.forEach(name -> cells.add(
                    group.path(FIELDS.getOrDefault(name.strip(), name.strip())).asText("")));
            cells.replaceAll(name -> name.isEmpty() || name.equals("null") ? NONE : name);
            table.add(row(cells, group));
        }
        if (report.path("groups").size() > 1) {
            List<String> cells = new ArrayList<>();
            by.forEach(name -> cells.add(cells.isEmpty() ? "total" : ""));
            table.add(row(cells, report.path("total")));
        }
        return table.lines();
    }

    private static String[] row(List<String> names, JsonNode group) {
        UsageSums sums = sums(group);
        List<String> cells = new ArrayList<>(names);
        LongStream.of(
                        sums.calls(),
                        sums.inputTokens(),
                        sums.cachedInputTokens(),
                        sums.outputTokens(),
                        sums.reasoningTokens())
                .mapToObj(Long::toString)
                .forEach(cells::add);
        cells.add(BigDecimal.valueOf(sums.costMicros(), 6)
                .setScale(4, RoundingMode.HALF_UP)
                .toPlainString());
        return cells.toArray(String[]::new);
    }

    private static UsageSums sums(JsonNode json) {
        return Json.MAPPER.convertValue(json, UsageSums.class);
    }

    /** What the table does not say. */
    private static List<String> notes(UsageSums total) {
        List<String> notes = new ArrayList<>();
        note(notes, total.failedCalls(), total.calls(), "calls failed");
        note(notes, total.abandonedCalls(), total.calls(), "calls were cut off, or their reply came too late");
        note(notes, total.uncountedRequests(), total.requests(), "requests used what no provider told");
        note(notes, total.callsWithoutPrice(), total.calls(), "calls have no price and are not in the dollars");
        return notes;
    }

    private static void note(List<String> notes, long some, long of, String words) {
        if (some > 0) {
            notes.add(some + " of " + of + ' ' + words + '.');
        }
    }
}
