package dev.millrace.standalone.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace approve <call>}: lets a tool call run. */
@Command(
        name = "approve",
        description = "Lets a tool call run that waits for a decision, as it is or with other arguments.")
public final class ApproveCommand implements Callable<Integer> {

    @Parameters(paramLabel = "CALL", arity = "1", description = "The call's id; `./millrace approvals` lists them.")
    private String callId = "";

    @Option(
            names = "--params",
            paramLabel = "JSON",
            description = "All arguments to run it with in place of those that were asked for, as a JSON object.")
    private @Nullable String params;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; it is kept with the decision.")
    private @Nullable String reason;

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    private final Terminal terminal;

    /** For picocli. */
    public ApproveCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    /** Where a call is decided on. */
    static String path(String callId) {
        return "/v1/approvals/" + GatewayClient.encoded(callId);
    }

    @Override
    public Integer call() {
        JsonNode edited = params == null ? null : object(params);
        try (GatewayClient client = gateway.client()) {
            JsonNode answer = client.post(path(callId), AskDialogue.decision("approve", edited, reason));
            terminal.out()
                    .println(answer.path("note")
                            .asText("Approved; task " + answer.path("taskId").asText() + " goes on."));
            return ExitCodes.DONE;
        }
    }

    private static JsonNode object(String json) {
        try {
            JsonNode tree = Json.MAPPER.readTree(json);
            if (tree.isObject()) {
                return tree;
            }
        } catch (JsonProcessingException e) {
            // told below
        }
        throw new CommandException(ExitCodes.USAGE, "--params: expected a JSON object, found " + Progress.cut(json));
    }
}
