package dev.millrace.standalone.cli;

import dev.millrace.api.Task;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code millrace undrain}: admits tasks again. */
@Command(
        name = "undrain",
        footerHeading = "%nExamples:%n",
        footer = {"  undrain"},
        description = "Admits tasks again after `./millrace drain`.")
public final class UndrainCommand extends ClientCommand {

    @Override
    int run(GatewayClient client) {
        Task.BroadcastAccepted answer = client.post("/v1/system/resume", Map.of(), Task.BroadcastAccepted.class);
        done(answer, "Tasks are admitted again.");
        return ExitCodes.DONE;
    }
}
