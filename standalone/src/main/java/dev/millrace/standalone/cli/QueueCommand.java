package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.QueueItem;
import dev.millrace.client.Route;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace queue}: what was accepted and how far it is, as a table. */
@Command(
        name = "queue",
        description = "Lists the events that were accepted, and how far each is, newest first; or shows one of them.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  queue --status failed",
            "  queue --status dead_letter",
            "  queue --session shop --next",
            "  queue refund-2"
        })
public final class QueueCommand extends ClientCommand {

    @Parameters(arity = "0..1", paramLabel = "EVENT", description = "Show this one, with all that is known of it.")
    private @Nullable String event;

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(
            names = "--next",
            description = "Only those of a --session that wait for their turn, in the order in which it comes.")
    private boolean next;

    @Option(
            names = "--status",
            paramLabel = "STATUS",
            description = "Only those that are pending, processing, completed, failed, expired, overwritten, cancelled"
                    + " or dead_letter.")
    private @Nullable String status;

    @Option(names = "--session", paramLabel = "ID", description = "Only those of one conversation.")
    private @Nullable String session;

    @Option(names = "--namespace", paramLabel = "NAME", description = "Of this namespace (default: default).")
    private @Nullable String namespace;

    @Override
    int run(GatewayClient client) {
        if (event != null) {
            return show(client, event);
        }
        if (next && session == null) {
            throw new CommandException(ExitCodes.USAGE, "--next: expected --session ID with it, found none");
        }
        Route query = new Route("/v1/queue")
                .with("status", status)
                .with("sessionId", session)
                .with("order", next ? "work" : null)
                .with("namespace", namespace);
        return page.print(
                this,
                client,
                new PageOptions.Listing<>(query, "items", QueueItem.class, "Nothing."),
                QueueCommand::table);
    }

    private int show(GatewayClient client, String id) {
        if (next || status != null || session != null) {
            throw new CommandException(ExitCodes.USAGE, "expected EVENT alone, or else --status, --session or --next");
        }
        JsonNode item = client.get(
                new Route("/v1/queue").at(id).with("namespace", namespace).toString());
        if (output().json()) {
            output().print(item);
        } else {
            EventText.fields(item, Set.of()).forEach(this::out);
        }
        return ExitCodes.DONE;
    }

    private static List<String> table(List<QueueItem> items) {
        Instant now = Instant.now();
        Table table = new Table("EVENT", "STATUS", "TYPE", "PRIORITY", "AGE", "SESSION", "REASON");
        for (QueueItem item : items) {
            table.add(
                    item.id(),
                    item.status(),
                    item.type(),
                    Integer.toString(item.priority()),
                    Table.age(item.createdAt(), now),
                    Objects.requireNonNullElse(item.threadId(), "-"),
                    Progress.cut(reason(item)));
        }
        return table.lines();
    }

    private static String reason(QueueItem item) {
        String reason = Objects.requireNonNullElse(item.reason(), "");
        return item.error() == null ? reason : reason.isEmpty() ? item.error() : reason + ": " + item.error();
    }
}
