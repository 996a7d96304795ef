package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.millrace.client.Route;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace events <task>}: everything that happened to a task, as a tree of causes. */
@Command(
        name = "events",
        footerHeading = "%nExamples:%n",
        footer = {"  events TASK", "  events TASK --verbose", "  events TASK --event EVENT"},
        description =
                "Shows everything that happened to a task, as a tree: what caused what. Each event has a line, with"
                        + " what it says as far as the terminal is wide; --verbose and --event show the rest.")
public final class EventsCommand extends TaskCommand {

    @Option(names = "--verbose", description = "Show everything that is in the events.")
    private boolean verbose;

    @Option(
            names = "--event",
            paramLabel = "ID",
            description = "Show everything that is in this event; the beginning of its id will do.")
    private @Nullable String eventId;

    @Override
    int run(GatewayClient client, String taskId) {
        ArrayNode events = client.pages(new Route(path(taskId, "events")), "after", "events");
        if (eventId != null) {
            show(one(GatewayClient.each(events, ToldEvent::of), eventId, taskId, client));
        } else {
            output().print(events, "No events yet.", () -> tree(GatewayClient.each(events, ToldEvent::of)));
        }
        return ExitCodes.DONE;
    }

    private List<String> tree(List<ToldEvent> events) {
        return verbose
                ? EventTree.verbose(events)
                : EventTree.lines(events, terminal().columns());
    }

    private void show(ToldEvent event) {
        if (output().json()) {
            output().print(event.json());
        } else {
            out(event.type());
            EventText.fields(event).forEach(this::out);
        }
    }

    /** The event of this id, else the only one whose id begins so. */
    private static ToldEvent one(List<ToldEvent> events, String begin, String taskId, GatewayClient client) {
        Map<String, ToldEvent> found = new LinkedHashMap<>();
        for (ToldEvent event : events) {
            if (event.id().equals(begin)) {
                return event;
            }
            if (event.id().startsWith(begin)) {
                found.putIfAbsent(event.id(), event);
            }
        }
        if (found.size() == 1) {
            return found.values().iterator().next();
        }
        throw new CommandException(
                ExitCodes.FAILED,
                found.isEmpty()
                        ? "There is no event " + begin + " of task " + taskId + ". `" + client.hint("events", taskId)
                                + "` shows those that there are."
                        : "--event: expected the beginning of one id, found that of " + found.size() + ": "
                                + String.join(", ", found.keySet()));
    }
}
