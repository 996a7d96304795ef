package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.millrace.schemas.Json;
import dev.millrace.standalone.cli.GatewayClient.RefusedException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace events <task>}: everything that happened to a task, as a tree of causes. */
@Command(
        name = "events",
        description =
                "Shows everything that happened to a task, as a tree: what caused what. Each event has a line, with"
                        + " what it says as far as the terminal is wide; --verbose and --event show the rest.")
public final class EventsCommand implements Callable<Integer> {

    @Parameters(paramLabel = "TASK", arity = "1", description = "The task's id; `./millrace tasks` lists them.")
    private String taskId = "";

    @Option(names = "--verbose", description = "Show everything that is in the events.")
    private boolean verbose;

    @Option(
            names = "--event",
            paramLabel = "ID",
            description = "Show everything that is in this event; the beginning of its id will do.")
    private @Nullable String eventId;

    @Mixin
    private OutputOptions output = new OutputOptions();

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
            List<JsonNode> events = events(client);
            if (eventId != null) {
                show(one(events, eventId));
            } else {
                ArrayNode all = Json.MAPPER.createArrayNode().addAll(events);
                output.print(
                        terminal,
                        all,
                        "No events yet.",
                        () -> verbose ? EventTree.verbose(events) : EventTree.lines(events, terminal.columns()));
            }
            return ExitCodes.DONE;
        } catch (RefusedException e) {
            throw e.orNoSuchTask(taskId, gateway);
        }
    }

    private void show(JsonNode event) {
        if (output.json()) {
            OutputOptions.print(terminal, event);
        } else {
            terminal.out().println(event.path("type").asText());
            EventText.fields(event).forEach(terminal.out()::println);
        }
    }

    /** The event of this id, else the only one whose id begins so. */
    private JsonNode one(List<JsonNode> events, String begin) {
        Map<String, JsonNode> found = new LinkedHashMap<>();
        for (JsonNode event : events) {
            String id = event.path("id").asText();
            if (id.equals(begin)) {
                return event;
            }
            if (id.startsWith(begin)) {
                found.putIfAbsent(id, event);
            }
        }
        if (found.size() == 1) {
            return found.values().iterator().next();
        }
        throw new CommandException(
                ExitCodes.FAILED,
                found.isEmpty()
                        ? "There is no event " + begin + " of task " + taskId + ". `" + gateway.hint("events", taskId)
                                + "` shows those that there are."
                        : "--event: expected the beginning of one id, found that of " + found.size() + ": "
                                + String.join(", ", found.keySet()));
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
