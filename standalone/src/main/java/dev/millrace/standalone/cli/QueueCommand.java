package dev.millrace.standalone.cli;

import dev.millrace.api.QueueItem;
import dev.millrace.client.Route;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace queue}: what was accepted and how far it is, as a table. */
@Command(
        name = "queue",
        description = "Lists the events that were accepted, and how far each is, newest first.",
        footerHeading = "%nExamples:%n",
        footer = {"  queue --status failed", "  queue --session shop --status pending", "  queue --status dead_letter"})
public final class QueueCommand extends ClientCommand {

    @Mixin
    private PageOptions page = new PageOptions();

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
        Route query = new Route("/v1/queue")
                .with("status", status)
                .with("sessionId", session)
                .with("namespace", namespace);
        return page.print(
                this,
                client,
                new PageOptions.Listing<>(query, "items", QueueItem.class, "Nothing."),
                QueueCommand::table);
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
