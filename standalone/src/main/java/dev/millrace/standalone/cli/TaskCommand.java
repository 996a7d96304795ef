package dev.millrace.standalone.cli;

import dev.millrace.client.Route;
import dev.millrace.standalone.cli.GatewayClient.RefusedException;
import picocli.CommandLine.Parameters;

/** A command about one task. */
abstract class TaskCommand extends ClientCommand {

    private static final int NOT_FOUND = 404;

    @Parameters(paramLabel = "TASK", arity = "1", description = "The task's id; `./millrace tasks` lists them.")
    private String taskId = "";

    @Override
    final int run(GatewayClient client) {
        try {
            return run(client, taskId);
        } catch (RefusedException e) {
            throw e.is(NOT_FOUND)
                    ? new CommandException(
                            ExitCodes.FAILED,
                            "There is no task " + taskId + ". `" + client.hint("tasks")
                                    + "` lists those that there are.")
                    : e;
        }
    }

    /** Something of a task. */
    static String path(String taskId, String what) {
        return "/v1/tasks/" + Route.encoded(taskId) + '/' + what;
    }

    /** Does it to this task. */
    abstract int run(GatewayClient client, String taskId);
}
