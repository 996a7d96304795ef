package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace reject <call>}: a tool call does not run. */
@Command(
        name = "reject",
        description = "Keeps a tool call from running that waits for a decision; the model is told why.")
public final class RejectCommand implements Callable<Integer> {

    @Parameters(paramLabel = "CALL", arity = "1", description = "The call's id; `./millrace approvals` lists them.")
    private String callId = "";

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; the model is told.")
    private @Nullable String reason;

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    private final Terminal terminal;

    /** For picocli. */
    public RejectCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (GatewayClient client = gateway.client()) {
            JsonNode answer = client.post(ApproveCommand.path(callId), AskDialogue.decision("reject", null, reason));
            terminal.out()
                    .println(answer.path("note")
                            .asText("Rejected; task " + answer.path("taskId").asText() + " goes on."));
            return ExitCodes.DONE;
        }
    }
}
