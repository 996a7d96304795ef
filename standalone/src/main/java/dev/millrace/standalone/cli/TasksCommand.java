package dev.millrace.standalone.cli;

import dev.millrace.api.Task;
import dev.millrace.client.Route;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace tasks}: the newest tasks as a table. */
@Command(
        name = "tasks",
        description = "Lists the tasks of a running Millrace, newest first.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  tasks --state failed --limit 5",
            "  tasks --waiting-for answer --json | jq -r .taskId",
            "  tasks --watch",
            "  tasks --session report-7 --watch --until-idle"
        })
public final class TasksCommand extends ClientCommand {

    private static final Duration EVERY = Duration.ofSeconds(2);

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

    @Option(
            names = "--watch",
            description =
                    "Show them anew every other second until it is interrupted; where nobody looks, a line for each"
                            + " that has moved.")
    private boolean watch;

    @Option(names = "--until-idle", description = "With --watch: end as soon as each of them has ended.")
    private boolean untilIdle;

    @Override
    int run(GatewayClient client) throws InterruptedException {
        Route query = new Route("/v1/tasks")
                .with("state", state)
                .with("sessionId", session)
                .with("waitingFor", waitingFor);
        PageOptions.Listing<Task> tasks = new PageOptions.Listing<>(query, "tasks", Task.class, "No tasks.");
        if (!watch) {
            return page.print(this, client, tasks, TasksCommand::table);
        }
        TaskTable table = new TaskTable(terminal(), output());
        while (true) {
            try {
                table.show(page.page(client, tasks).path("tasks"), TasksCommand::table);
                if (untilIdle && table.isIdle()) {
                    return ExitCodes.DONE;
                }
            } catch (CommandException e) {
                if (e.exitCode() != ExitCodes.UNREACHABLE) {
                    throw e;
                }
                table.lost(String.valueOf(e.getMessage()));
            }
            Thread.sleep(EVERY);
        }
    }

    /** One line per task under a heading, and one for each task that there is more to say of. */
    private static List<String> table(List<Task> tasks) {
        Instant now = Instant.now();
        Table table = new Table("TASK", "STATE", "AGENT", "AGE", "ROUNDS", "WAITS FOR", "INPUT");
        for (Task task : tasks) {
            table.add(
                    task.taskId(),
                    task.state(),
                    task.agent() == null ? task.taskType() : task.agent(),
                    Table.age(task.createdAt(), now),
                    Integer.toString(task.iterations()),
                    waits(task.waitingFor(), now),
                    Progress.cut(task.inputText()));
        }
        List<String> lines = new ArrayList<>(table.lines());
        for (Task task : tasks) {
            if (task.note() != null) {
                lines.add("Task " + task.taskId() + ": " + Progress.cut(task.note()));
            }
        }
        return lines;
    }

    /** What a task waits for and for how long already; empty if it has ended. */
    private static String waits(Task.@Nullable WaitingFor waitingFor, Instant now) {
        if (waitingFor == null) {
            return "";
        }
        int calls = waitingFor.callIds().size();
        return (calls > 1 ? calls + " × " : "") + waitingFor.kind() + ", " + Table.age(waitingFor.since(), now);
    }
}
