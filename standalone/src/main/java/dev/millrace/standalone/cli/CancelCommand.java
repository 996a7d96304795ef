package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace cancel <task>}: ends a task, whatever it does. */
@Command(name = "cancel", description = "Cancels a task, whatever it does, and waits until it has ended.")
public final class CancelCommand implements Callable<Integer> {

    @Parameters(paramLabel = "TASK", arity = "1", description = "The task's id; `./millrace tasks` lists them.")
    private String taskId = "";

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; it is kept with the task.")
    private @Nullable String reason;

    @Option(
            names = "--session",
            paramLabel = "ID",
            description = "The task's conversation, if the task may not be known yet.")
    private @Nullable String session;

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    private final Terminal terminal;

    /** For picocli. */
    public CancelCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Map<String, Object> body = new LinkedHashMap<>();
        if (reason != null) {
            body.put("reason", reason);
        }
        if (session != null) {
            body.put("sessionId", session);
        }
        try (GatewayClient client = gateway.client()) {
            JsonNode answer = client.post("/v1/tasks/" + GatewayClient.encoded(taskId) + "/cancel?wait=10s", body);
            if (answer.hasNonNull("state")) {
                terminal.out()
                        .println(
                                "Task " + taskId + " is " + answer.path("state").asText() + ".");
            } else if (answer.hasNonNull("note")) {
                terminal.out().println(answer.path("note").asText());
            } else {
                terminal.out().println("Task " + taskId + " is to be cancelled; it has not ended within 10 s.");
            }
            return ExitCodes.DONE;
        }
    }
}
