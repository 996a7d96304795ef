package dev.millrace.standalone.cli;

import dev.millrace.standalone.cli.GatewayClient.RefusedException;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace suspend <task>}: lets a task wait. */
@Command(name = "suspend", description = "Lets a task wait until it is resumed. What arrives meanwhile is kept.")
public final class SuspendCommand implements Callable<Integer> {

    @Parameters(paramLabel = "TASK", arity = "1", description = "The task's id; `./millrace tasks` lists them.")
    private String taskId = "";

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; it is kept with the task.")
    private @Nullable String reason;

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    private final Terminal terminal;

    /** For picocli. */
    public SuspendCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (GatewayClient client = gateway.client()) {
            client.post(
                    "/v1/tasks/" + GatewayClient.encoded(taskId) + "/suspend",
                    reason == null ? Map.of() : Map.of("reason", reason));
            terminal.out().println("Task " + taskId + " is to wait. It goes on with: " + client.hint("resume", taskId));
            return ExitCodes.DONE;
        } catch (RefusedException e) {
            throw e.orNoSuchTask(taskId, gateway);
        }
    }
}
