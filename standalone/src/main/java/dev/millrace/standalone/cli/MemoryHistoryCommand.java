package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
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
            ArrayNode versions = Json.MAPPER.createArrayNode();
            versions.addAll(new MemoryClient(client).versions(options.namespace(), path));
            output.print(terminal, versions, "No versions.", () -> table(versions));
            return ExitCodes.DONE;
        }
    }

    private static List<String> table(JsonNode versions) {
        Table table = new Table("VERSION", "WHEN", "SINCE", "SIZE", "BY", "SUMMARY");
        for (JsonNode version : versions) {
            boolean deleted = version.path("deleted").asBoolean();
            table.add(
                    version.path("version").asText(),
                    version.path("updatedAt").asText(),
                    MemoryListCommand.since(version),
                    deleted ? "-" : version.path("size").asText(),
                    version.path("updatedBy").asText(),
                    deleted
                            ? "(taken away)"
                            : Progress.cut(version.path("summary").asText()));
        }
        return table.lines();
    }
}
