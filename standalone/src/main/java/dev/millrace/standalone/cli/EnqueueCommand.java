package dev.millrace.standalone.cli;

import dev.millrace.api.QueueItem;
import dev.millrace.client.Route;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace enqueue}: puts an event into the queue of a conversation, and prints its id. */
@Command(
        name = "enqueue",
        description = "Puts an event into the queue of a conversation, where higher priorities go first, and prints its"
                + " id.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  enqueue MESSAGE_RECEIVED --session shop --priority 900 '{\"text\": \"What does notes.txt say?\"}'",
            "  enqueue order.placed --session shop --id order-7 --ttl 10m @order.json"
        })
public final class EnqueueCommand extends ClientCommand {

    @Mixin
    private EventData event = new EventData();

    @Option(names = "--session", required = true, paramLabel = "ID", description = "The conversation.")
    private String session = "";

    @Option(
            names = "--priority",
            paramLabel = "N",
            description = "Higher goes first, at most 900 (default: as the type has it).")
    private @Nullable Integer priority;

    @Option(
            names = "--ttl",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "If its turn has not come by then it is not worked on, such as 90s or 10m (default: never).")
    private @Nullable Duration ttl;

    @Option(names = "--parent", paramLabel = "EVENT", description = "The event that has led to it.")
    private @Nullable String parent;

    @Option(names = "--namespace", paramLabel = "NAME", description = "In this namespace (default: default).")
    private @Nullable String namespace;

    @Override
    int run(GatewayClient client) {
        QueueItem.Queued queued = client.post(
                "/v1/sessions/" + Route.encoded(session) + "/queue",
                new QueueItem.Request(
                        event.id(),
                        event.type(),
                        event.object(),
                        priority,
                        ttl == null ? null : ttl.toMillis(),
                        parent,
                        namespace),
                QueueItem.Queued.class);
        done(queued, queued.id());
        return ExitCodes.DONE;
    }
}
