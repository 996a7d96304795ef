package dev.millrace.standalone.cli;

import dev.millrace.api.Approval;
import dev.millrace.api.Task;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace approve <call>}: lets a tool call run. */
@Command(
        name = "approve",
        footerHeading = "%nExamples:%n",
        footer = {
            "  approve CALL",
            "  approve CALL --params '{\"path\": \"todo.txt\", \"content\": \"oil the gate\"}' --reason 'a better name'"
        },
        description = "Lets a tool call run that waits for a decision, as it is or with other arguments.")
public final class ApproveCommand extends ClientCommand {

    @Parameters(paramLabel = "CALL", arity = "1", description = "The call's id; `./millrace approvals` lists them.")
    private String callId = "";

    @Option(
            names = "--params",
            paramLabel = "JSON",
            description = "All arguments to run it with in place of those that were asked for, as a JSON object.")
    private @Nullable String params;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; it is kept with the decision.")
    private @Nullable String reason;

    @Override
    int run(GatewayClient client) {
        String given = params;
        Approval.Decision approved = ToolDecision.approve(reason);
        if (given != null) {
            approved = ToolDecision.with(approved, given)
                    .orElseThrow(() -> new CommandException(
                            ExitCodes.USAGE, "--params: expected a JSON object, found " + Progress.cut(given)));
        }
        Task.ControlAccepted answer = ToolDecision.send(client, callId, approved);
        done(answer, answer.note() == null ? "Approved; task " + answer.taskId() + " goes on." : answer.note());
        return ExitCodes.DONE;
    }
}
