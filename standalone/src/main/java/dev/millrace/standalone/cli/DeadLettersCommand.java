package dev.millrace.standalone.cli;

import dev.millrace.api.DeadLetterView;
import dev.millrace.client.Route;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace dead-letters}: what was not taken, and why, as a table. */
@Command(
        name = "dead-letters",
        footerHeading = "%nExamples:%n",
        footer = {
            "  dead-letters",
            "  dead-letters --reason unknown_agent --limit 20 --json",
            "  dead-letters redrive --reason unknown_agent"
        },
        description = "Lists what could not be read or was not taken, and why, newest first.",
        subcommands = {RedriveCommand.class, DiscardCommand.class})
public final class DeadLettersCommand extends ClientCommand {

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(names = "--task", paramLabel = "ID", description = "Only those of one task.")
    private @Nullable String task;

    @Option(names = "--reason", paramLabel = "CODE", description = "Only those with this code, such as unknown_task.")
    private @Nullable String reason;

    @Override
    int run(GatewayClient client) {
        Route query = new Route("/v1/dead-letters").with("taskId", task).with("reason", reason);
        return page.print(
                this,
                client,
                new PageOptions.Listing<>(query, "deadLetters", DeadLetterView.class, "No dead letters."),
                DeadLettersCommand::table);
    }

    private static List<String> table(List<DeadLetterView> letters) {
        Instant now = Instant.now();
        Table table = new Table("CURSOR", "SINCE", "REASON", "TYPE", "TASK", "DETAIL");
        for (DeadLetterView letter : letters) {
            table.add(
                    letter.cursor(),
                    Table.age(letter.timestamp(), now),
                    Objects.requireNonNullElse(letter.reason(), "-"),
                    Objects.requireNonNullElse(letter.type(), "-"),
                    Objects.requireNonNullElse(letter.taskId(), "-"),
                    Progress.cut(Objects.requireNonNullElse(letter.detail(), "")));
        }
        return table.lines();
    }
}
