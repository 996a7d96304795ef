package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.UsageAnswer;
import dev.millrace.api.UsageSums;
import dev.millrace.client.Route;
import dev.millrace.schemas.Json;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace usage}: what model calls have used, as a table. */
@Command(
        name = "usage",
        footerHeading = "%nExamples:%n",
        footer = {"  usage --by day,model --from 2026-01-31", "  usage --by namespace --namespace '*' --json"},
        description = "Shows what model calls have used in a running Millrace, in tokens and dollars.")
public final class UsageCommand extends ClientCommand {

    private static final String NONE = "-";

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

    @Override
    int run(GatewayClient client) {
        Route query = new Route("/v1/usage")
                .with("groupBy", String.join(",", by))
                .with("from", from)
                .with("to", to)
                .with("namespace", namespace)
                .with("sessionId", session)
                .with("taskId", task)
                .with("agent", agent)
                .with("model", model);
        JsonNode answer = client.get(query.toString());
        UsageSums total = Json.MAPPER.convertValue(answer.path("total"), UsageSums.class);
        output().print(
                        answer.path("groups"),
                        UsageAnswer.Group.class,
                        "No model calls.",
                        groups -> table(groups, total));
        notes(total).forEach(this::err);
        return ExitCodes.DONE;
    }

    private List<String> table(List<UsageAnswer.Group> groups, UsageSums total) {
        Table table = new Table(Stream.concat(
                        by.stream().map(name -> name.strip().toUpperCase(Locale.ROOT)),
                        Stream.of("CALLS", "INPUT", "CACHED", "OUTPUT", "REASONING", "DOLLARS"))
                .toArray(String[]::new));
        for (UsageAnswer.Group group : groups) {
            table.add(row(by.stream().map(name -> name(group, name.strip())), group.sums()));
        }
        if (groups.size() > 1) {
            table.add(row(IntStream.range(0, by.size()).mapToObj(i -> i == 0 ? "total" : ""), total));
        }
        return table.lines();
    }

    private static String name(UsageAnswer.Group group, String by) {
        String name =
                switch (by) {
                    case "namespace" -> group.namespace();
                    case "session" -> group.sessionId();
                    case "task" -> group.taskId();
                    case "agent" -> group.agent();
                    case "model" -> group.model();
                    case "hour" -> group.hour();
                    case "day" -> group.day();
                    default -> null;
                };
        return name == null || name.isEmpty() ? NONE : name;
    }

    private static String[] row(Stream<String> names, UsageSums sums) {
        String dollars = BigDecimal.valueOf(sums.costMicros(), 6)
                .setScale(4, RoundingMode.HALF_UP)
                .toPlainString();
        Stream<String> counts = LongStream.of(
                        sums.calls(),
                        sums.inputTokens(),
                        sums.cachedInputTokens(),
                        sums.outputTokens(),
                        sums.reasoningTokens())
                .mapToObj(Long::toString);
        return Stream.of(names, counts, Stream.of(dollars))
                .flatMap(some -> some)
                .toArray(String[]::new);
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
