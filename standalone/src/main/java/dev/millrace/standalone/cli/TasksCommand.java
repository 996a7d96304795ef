package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
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
    private PageOptions page = new PageOptions();

    @Option(
            names = "--state",
            paramLabel = "STATE",
            description = "Only those that are idle, reasoning, acting, suspended, completed, failed or cancelled.")
    private @Nullable String state;

    @Option(names = "--session", paramLabel = "ID", description = "Only those of one conversation.")
    private @Nullable String session;

    @Option(
            names = "--waiting-for",
            paramLabel = "WHAT",
            description = "Only those that wait for admission, model, tools, answer, approval, resume or children.")
    private @Nullable String waitingFor;

    private final Terminal terminal;

    /** For picocli. */
    public TasksCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Query query = new Query("/v1/tasks")
                .with("state", state)
                .with("sessionId", session)
                .with("waitingFor", waitingFor);
        return page.print(terminal, query, "tasks", "No tasks.", TasksCommand::table);
    }

    /** One line per task under a heading, and one for each task that there is more to say of. */
    static List<String> table(JsonNode tasks, Instant now) {
        Table table = new Table("TASK", "STATE", "AGENT", "AGE", "ROUNDS", "WAITS FOR", "INPUT");
        for (JsonNode task : tasks) {
            table.add(
                    task.path("taskId").asText(),
                    task.path("state").asText(),
                    task.path("agent").asText(task.path("taskType").asText()),
                    Table.age(task.path("createdAt").asLong(), now),
                    task.path("iterations").asText(),
                    waits(task.path("waitingFor"), now),
                    Progress.cut(task.path("inputText").asText()));
        }
        List<String> lines = new ArrayList<>(table.lines());
        for (JsonNode task : tasks) {
            if (task.hasNonNull("note")) {
                lines.add("Task " + task.path("taskId").asText() + ": "
                        + Progress.cut(task.path("note").asText()));
            }
        }
        return lines;
    }

    /** What a task waits for and for how long already; empty if it has ended. */
    private static String waits(JsonNode waitingFor, Instant now) {
        String kind = waitingFor.path("kind").asText("");
        if (kind.isEmpty()) {
            return "";
        }
        int calls = waitingFor.path("callIds").size();
        return (calls > 1 ? calls + " × " : "") + kind + ", "
                + Table.age(waitingFor.path("since").asLong(), now);
    }
}
