package dev.millrace.standalone.cli;

import dev.millrace.api.Task;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace suspend <task>}: lets a task wait. */
@Command(
        name = "suspend",
        footerHeading = "%nExamples:%n",
        footer = {"  suspend TASK --reason 'until Monday'"},
        description = "Lets a task wait until it is resumed. What arrives meanwhile is kept.")
public final class SuspendCommand extends TaskCommand {

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; it is kept with the task.")
    private @Nullable String reason;

    @Override
    int run(GatewayClient client, String taskId) {
        Task.ControlAccepted answer =
                client.post(path(taskId, "suspend"), new Task.Reason(reason), Task.ControlAccepted.class);
        done(answer, "Task " + taskId + " is to wait. It goes on with: " + client.hint("resume", taskId));
        return ExitCodes.DONE;
    }
}
