package dev.millrace.standalone.cli;

import dev.millrace.api.Task;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace reject <call>}: a tool call does not run. */
@Command(
        name = "reject",
        footerHeading = "%nExamples:%n",
        footer = {"  reject CALL --reason 'not in this folder'"},
        description = "Keeps a tool call from running that waits for a decision; the model is told why.")
public final class RejectCommand extends ClientCommand {

    @Parameters(paramLabel = "CALL", arity = "1", description = "The call's id; `./millrace approvals` lists them.")
    private String callId = "";

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; the model is told.")
    private @Nullable String reason;

    @Override
    int run(GatewayClient client) {
        Task.ControlAccepted answer = ToolDecision.send(client, callId, ToolDecision.reject(reason));
        done(answer, answer.note() == null ? "Rejected; task " + answer.taskId() + " goes on." : answer.note());
        return ExitCodes.DONE;
    }
}
