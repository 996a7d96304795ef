package dev.millrace.standalone.cli;

import dev.millrace.api.Task;
import picocli.CommandLine.Command;

/** {@code millrace drain}: admits no more tasks. */
@Command(
        name = "drain",
        footerHeading = "%nExamples:%n",
        footer = {"  drain"},
        description =
                "Admits no more tasks: those that run go on, new ones are taken and wait until `./millrace undrain`.")
public final class DrainCommand extends ClientCommand {

    @Override
    int run(GatewayClient client) {
        Task.BroadcastAccepted answer =
                client.post("/v1/system/drain", new Task.Reason(null), Task.BroadcastAccepted.class);
        done(answer, "No more tasks are admitted. Those that run go on; `" + client.hint("tasks") + "` lists them.");
        return ExitCodes.DONE;
    }
}
