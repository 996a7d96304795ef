package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.MemoryPage;
import dev.millrace.schemas.Json;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code millrace memory history <path>}: the versions of a document, as a table. */
@Command(
        name = "history",
        description = "Lists the versions of a document that are kept, the newest first; also of one that is gone.")
public final class MemoryHistoryCommand implements Callable<Integer> {

    @Parameters(paramLabel = "PATH", arity = "1", description = "Such as facts/user.md.")
    private String path = "";

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Mixin
    private MemoryOptions options = new MemoryOptions();

    private final Terminal terminal;

    /** For picocli. */
    public MemoryHistoryCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (GatewayClient client = options.client()) {
            List<JsonNode> versions = new MemoryClient(client).versions(options.namespace(), path);
            output.print(terminal, Json.MAPPER.valueToTree(versions), "No versions.", () -> table(versions));
            return ExitCodes.DONE;
        }
    }

    private static List<String> table(List<JsonNode> versions) {
        Table table = new Table("VERSION", "WHEN", "SINCE", "SIZE", "BY", "SUMMARY");
        for (JsonNode one : versions) {
            MemoryPage.Version version = MemoryClient.version(one);
            table.add(
                    Long.toString(version.version()),
                    version.updatedAt(),
                    MemoryListCommand.since(version),
                    version.deleted() ? "-" : Long.toString(version.size()),
                    version.updatedBy(),
                    version.deleted() ? "(taken away)" : Progress.cut(version.summary()));
        }
        return table.lines();
    }
}
