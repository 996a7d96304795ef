package dev.millrace.standalone.cli;

import dev.millrace.api.Approval;
import dev.millrace.client.Route;
import dev.millrace.schemas.Json;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace approvals}: the tool calls that wait for a decision, as a table. */
@Command(
        name = "approvals",
        footerHeading = "%nExamples:%n",
        footer = {"  approvals", "  approvals --tool write_file --json"},
        description = "Lists the tool calls that wait for a decision, the one that has waited longest first.")
public final class ApprovalsCommand extends ClientCommand {

    @Mixin
    private PageOptions page = new PageOptions();

    @Option(names = "--task", paramLabel = "ID", description = "Only those of one task.")
    private @Nullable String task;

    @Option(names = "--session", paramLabel = "ID", description = "Only those of one conversation.")
    private @Nullable String session;

    @Option(names = "--tool", paramLabel = "NAME", description = "Only those of one tool.")
    private @Nullable String tool;

    @Override
    int run(GatewayClient client) {
        Route query = new Route("/v1/approvals")
                .with("taskId", task)
                .with("sessionId", session)
                .with("toolName", tool);
        return page.print(
                this,
                client,
                new PageOptions.Listing<>(query, "approvals", Approval.class, "Nothing waits for a decision."),
                ApprovalsCommand::table);
    }

    private static List<String> table(List<Approval> approvals) {
        Instant now = Instant.now();
        Table table = new Table("CALL", "TOOL", "SINCE", "EXPIRES", "REASON", "ARGUMENTS");
        for (Approval approval : approvals) {
            table.add(
                    approval.callId(),
                    approval.toolName(),
                    Table.age(approval.requestedAt(), now),
                    expires(approval.expiresAt(), now),
                    approval.reason() == null ? "-" : Progress.cut(approval.reason()),
                    Progress.cut(Json.writeText(approval.params())));
        }
        return table.lines();
    }

    private static String expires(@Nullable String at, Instant now) {
        try {
            return at == null
                    ? "never"
                    : "in "
                            + Table.span(Duration.between(
                                    now, OffsetDateTime.parse(at).toInstant()));
        } catch (DateTimeException e) {
            return String.valueOf(at);
        }
    }
}
