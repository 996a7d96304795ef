package dev.millrace.standalone.cli;

import dev.millrace.api.Session;
import dev.millrace.client.Route;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace sessions list}: the conversations that there are, as a table. */
@Command(name = "list", description = "Lists conversations, the one in which something happened last first.")
final class SessionListCommand extends ClientCommand {

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(names = "--namespace", paramLabel = "NAME", description = "Of this tenant (default: default).")
    private @Nullable String namespace;

    @Override
    int run(GatewayClient client) {
        return page.print(
                this,
                client,
                new PageOptions.Listing<>(
                        new Route("/v1/sessions").with("namespace", namespace),
                        "sessions",
                        Session.class,
                        "There are no sessions."),
                SessionListCommand::table);
    }

    private static List<String> table(List<Session> sessions) {
        Instant now = Instant.now();
        Table table = new Table("SESSION", "TITLE", "SINCE", "LAST", "PARTICIPANTS");
        for (Session session : sessions) {
            table.add(
                    session.sessionId(),
                    session.title() == null ? "-" : Progress.cut(session.title()),
                    Table.age(session.createdAt(), now),
                    Table.age(session.updatedAt(), now),
                    session.participants().isEmpty() ? "-" : String.join(", ", session.participants()));
        }
        return table.lines();
    }
}
