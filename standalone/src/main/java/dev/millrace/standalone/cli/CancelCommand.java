package dev.millrace.standalone.cli;

import dev.millrace.api.Task;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace cancel <task>}: ends a task, whatever it does. */
@Command(
        name = "cancel",
        footerHeading = "%nExamples:%n",
        footer = {"  cancel TASK --reason 'no longer wanted'"},
        description = "Cancels a task, whatever it does, and waits until it has ended.")
public final class CancelCommand extends TaskCommand {

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; it is kept with the task.")
    private @Nullable String reason;

    @Option(
            names = "--session",
            paramLabel = "ID",
            description = "The task's conversation, if the task may not be known yet.")
    private @Nullable String session;

    @Override
    int run(GatewayClient client, String taskId) {
        // the task as it has ended, or what else there is to say
        Task answer = client.post(path(taskId, "cancel?wait=10s"), new Task.CancelRequest(reason, session), Task.class);
        done(
                answer,
                answer.state() != null
                        ? "Task " + taskId + " is " + answer.state() + "."
                        : answer.note() != null
                                ? answer.note()
                                : "Task " + taskId + " is to be cancelled; it has not ended within 10 s.");
        return ExitCodes.DONE;
    }
}
