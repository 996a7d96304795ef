package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace tasks}: the newest tasks as a table. */
@Command(name = "tasks", description = "Lists the tasks of a running Millrace, newest first.")
public final class TasksCommand implements Callable<Integer> {

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    @Option(
            names = "--state",
            paramLabel = "STATE",
            description = "Only those that are idle, reasoning, acting, suspended, completed, failed or cancelled.")
    private @Nullable String state;

    @Option(names = "--session", paramLabel = "ID", description = "Only those of one conversation.")
    private @Nullable String session;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "20",
            description = "How many at most (default: ${DEFAULT-VALUE}).")
    private int limit = 20;

    private final Terminal terminal;

    /** For picocli. */
    public TasksCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        StringBuilder path = new StringBuilder("/v1/tasks?limit=").append(limit);
        if (state != null) {
            path.append("&state=").append(GatewayClient.encoded(state));
        }
        if (session != null) {
            path.append("&sessionId=").append(GatewayClient.encoded(session));
        }
        try (GatewayClient client = gateway.client()) {
            JsonNode page = client.get(path.toString());
            JsonNode tasks = page.path("tasks");
            if (tasks.isEmpty()) {
                terminal.err().println("No tasks.");
                return ExitCodes.DONE;
            }
            table(tasks, Instant.now()).forEach(terminal.out()::println);
            if (page.hasNonNull("next")) {
                terminal.err().println("There are more; --limit shows them.");
            }
            return ExitCodes.DONE;
        }
    }

    /** One line per task under a heading, columns as wide as what is in them. */
    static List<String> table(JsonNode tasks, Instant now) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("TASK", "STATE", "AGENT", "AGE", "ROUNDS", "INPUT"));
        for (JsonNode task : tasks) {
            rows.add(List.of(
                    task.path("taskId").asText(),
                    task.path("state").asText(),
                    task.path("taskType").asText(),
                    age(Duration.between(
                            Instant.ofEpochMilli(task.path("createdAt").asLong()), now)),
                    task.path("iterations").asText(),
                    Progress.cut(task.path("inputText").asText())));
        }
        int[] widths = new int[rows.getFirst().size() - 1];
        rows.forEach(row -> {
            for (int column = 0; column < widths.length; column++) {
                widths[column] = Math.max(widths[column], row.get(column).length());
            }
        });
        return rows.stream().map(row -> line(row, widths)).toList();
    }

    private static String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < widths.length; column++) {
            String cell = row.get(column);
            line.append(cell).append(" ".repeat(widths[column] - cell.length() + 2));
        }
        return line.append(row.getLast()).toString();
    }

    private static String age(Duration age) {
        long seconds = Math.max(0, age.toSeconds());
        if (seconds < 120) {
            return seconds + " s";
        }
        if (seconds < 7_200) {
            return seconds / 60 + " min";
        }
        return seconds < 172_800 ? seconds / 3_600 + " h" : seconds / 86_400 + " d";
    }
}
