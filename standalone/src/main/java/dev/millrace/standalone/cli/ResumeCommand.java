package dev.millrace.standalone.cli;

import dev.millrace.standalone.cli.GatewayClient.RefusedException;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace resume <task>}: lets a task go on, with an answer or new input. */
@Command(
        name = "resume",
        description = "Lets a suspended task go on, answers its question, or gives a completed task new input.")
public final class ResumeCommand implements Callable<Integer> {

    @Parameters(paramLabel = "TASK", arity = "1", description = "The task's id; `./millrace tasks` lists them.")
    private String taskId = "";

    @Option(
            names = "--input",
            paramLabel = "TEXT",
            description = "The answer, or what to do next. A completed task needs it.")
    private @Nullable String input;

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    private final Terminal terminal;

    /** For picocli. */
    public ResumeCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (GatewayClient client = gateway.client()) {
            client.post(
                    "/v1/tasks/" + GatewayClient.encoded(taskId) + "/resume",
                    input == null ? Map.of() : Map.of("newInput", input));
            terminal.out().println("Task " + taskId + " goes on; `" + client.hint("events", taskId) + "` shows how.");
            return ExitCodes.DONE;
        } catch (RefusedException e) {
            throw e.orNoSuchTask(taskId, gateway);
        }
    }
}
