package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.standalone.cli.GatewayClient.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code millrace events <task>}: everything that happened to a task, as a tree of causes. */
@Command(name = "events", description = "Shows everything that happened to a task, as a tree: what caused what.")
public final class EventsCommand implements Callable<Integer> {

    @Parameters(paramLabel = "TASK", arity = "1", description = "The task's id; `millrace tasks` lists them.")
    private String taskId = "";

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    private final Terminal terminal;

    /** For picocli. */
    public EventsCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (GatewayClient client = gateway.client()) {
            EventTree.lines(events(client)).forEach(terminal.out()::println);
            return ExitCodes.DONE;
        } catch (RefusedException e) {
            throw e.orNoSuchTask(taskId);
        }
    }

    private List<JsonNode> events(GatewayClient client) {
        String path = "/v1/tasks/" + GatewayClient.encoded(taskId) + "/events";
        List<JsonNode> events = new ArrayList<>();
        JsonNode page = client.get(path);
        page.path("events").forEach(events::add);
        while (page.hasNonNull("next")) {
            page = client.get(
                    path + "?after=" + GatewayClient.encoded(page.path("next").asText()));
            page.path("events").forEach(events::add);
        }
        return events;
    }
}
