package dev.millrace.standalone.cli;

import dev.millrace.api.Task;
import dev.millrace.api.TaskBulk;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace bulk <action>}: does one thing with many tasks, and prints what became of each. */
@Command(
        name = "bulk",
        footerHeading = "%nExamples:%n",
        footer = {
            "  bulk cancel --state suspended --dry-run",
            "  bulk cancel --agent clerk --waiting-for answer --reason 'asked in error'",
            "  bulk resume TASK TASK"
        },
        description = "Cancels, suspends or resumes many tasks: these, or all that a filter matches.")
public final class BulkCommand extends ClientCommand {

    /** Of a dry run; the first ones show whether the filter says what was meant. */
    private static final int SAMPLE = 20;

    @Parameters(index = "0", paramLabel = "ACTION", description = "cancel, suspend or resume.")
    private String action = "";

    @Parameters(index = "1..*", paramLabel = "TASK", description = "These tasks; in place of a filter.")
    private List<String> ids = new ArrayList<>();

    @Option(names = "--state", paramLabel = "STATE", description = "Those in this state.")
    private @Nullable String state;

    @Option(names = "--waiting-for", paramLabel = "WHAT", description = "Those that wait for this, such as answer.")
    private @Nullable String waitingFor;

    @Option(names = "--session", paramLabel = "ID", description = "Those of one conversation.")
    private @Nullable String session;

    @Option(names = "--agent", paramLabel = "NAME", description = "Those of one agent.")
    private @Nullable String agent;

    @Option(names = "--error", paramLabel = "CODE", description = "Those that failed with this code.")
    private @Nullable String error;

    @Option(names = "--text", paramLabel = "TEXT", description = "Those with this in what was said.")
    private @Nullable String text;

    @Option(names = "--all", description = "All of the namespace.")
    private boolean all;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; it is kept with each. Not with resume.")
    private @Nullable String reason;

    @Option(
            names = "--dry-run",
            description = "Show how many are meant, and what would become of the first; do nothing.")
    private boolean dryRun;

    @Override
    int run(GatewayClient client) {
        boolean filtered =
                Stream.of(state, waitingFor, session, agent, error, text).anyMatch(Objects::nonNull);
        if (Stream.of(!ids.isEmpty(), filtered, all).filter(given -> given).count() != 1) {
            throw new CommandException(ExitCodes.USAGE, "expected TASKs, or else a filter such as --state, or --all");
        }
        boolean refused = false;
        String cursor = null;
        int from = 0;
        do {
            int to = Math.min(ids.size(), from + TaskBulk.MOST);
            TaskBulk.Outcome outcome =
                    client.post("/v1/tasks/bulk", request(ids.subList(from, to), cursor), TaskBulk.Outcome.class);
            refused |= show(outcome);
            from = to;
            cursor = dryRun ? null : outcome.next();
        } while (cursor != null || from < ids.size());
        return refused && !dryRun ? ExitCodes.FAILED : ExitCodes.DONE;
    }

    private TaskBulk.Request request(List<String> some, @Nullable String cursor) {
        if (!some.isEmpty()) {
            return new TaskBulk.Request(action, some, null, reason, dryRun, null, null);
        }
        TaskBulk.Filter filter =
                new TaskBulk.Filter(state, waitingFor, session, agent, error, text, null, null, null, null);
        return new TaskBulk.Request(action, null, filter, reason, dryRun, dryRun ? SAMPLE : null, cursor);
    }

    /** Prints it, and says whether anything was refused. */
    private boolean show(TaskBulk.Outcome outcome) {
        if (output().json()) {
            done(outcome, "");
        } else {
            Task.Counts matched = outcome.matched();
            if (matched != null) {
                err(summary(matched) + " Nothing was done. The first of them:");
            }
            for (TaskBulk.Item item : outcome.items()) {
                out(item.taskId() + "  " + item.status()
                        + (item.detail() == null ? "" : ": " + Progress.cut(item.detail())));
            }
        }
        return outcome.items().stream().anyMatch(item -> item.status().equals("refused"));
    }

    private static String summary(Task.Counts matched) {
        int sum = matched.states().values().stream().mapToInt(Integer::intValue).sum();
        String states = matched.states().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(one -> one.getValue() + " " + one.getKey())
                .collect(Collectors.joining(", "));
        return (matched.complete() ? "" : "At least ") + sum + " tasks are meant"
                + (states.isEmpty() ? "." : ": " + states + ".");
    }
}
