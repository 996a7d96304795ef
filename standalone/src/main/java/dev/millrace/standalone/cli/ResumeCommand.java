package dev.millrace.standalone.cli;

import dev.millrace.api.Task;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace resume <task>}: lets a task go on, with an answer or new input. */
@Command(
        name = "resume",
        footerHeading = "%nExamples:%n",
        footer = {"  resume TASK --input 'The wheel at the gate'"},
        description = "Lets a suspended task go on, answers its question, or gives a completed task new input.")
public final class ResumeCommand extends TaskCommand {

    @Option(
            names = "--input",
            paramLabel = "TEXT",
            description = "The answer, or what to do next. A completed task needs it.")
    private @Nullable String input;

    @Override
    int run(GatewayClient client, String taskId) {
        Task.ControlAccepted answer =
                client.post(path(taskId, "resume"), new Task.NewInput(input), Task.ControlAccepted.class);
        done(answer, "Task " + taskId + " goes on; `" + client.hint("events", taskId) + "` shows how.");
        return ExitCodes.DONE;
    }
}
