package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace memory list}: what there is, as a table. */
@Command(name = "list", description = "Lists the documents of memory with what each is about.")
public final class MemoryListCommand implements Callable<Integer> {

    @Mixin
    private MemoryOptions options = new MemoryOptions();

    @Option(names = "--all", description = "Of all namespaces.")
    private boolean all;

    private final Terminal terminal;

    /** For picocli. */
    public MemoryListCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (GatewayClient client = options.client()) {
            MemoryClient memory = new MemoryClient(client);
            List<String> namespaces = all ? memory.namespaces() : List.of(options.namespace());
            Table table = all
                    ? new Table("NAMESPACE", "PATH", "SIZE", "VERSION", "SINCE", "BY", "SUMMARY")
                    : new Table("PATH", "SIZE", "VERSION", "SINCE", "BY", "SUMMARY");
            int count = 0;
            for (String namespace : namespaces) {
                for (JsonNode document : memory.documents(namespace)) {
                    table.add(row(namespace, document));
                    count++;
                }
            }
            if (count == 0) {
                terminal.err().println("Nothing is remembered" + (all ? "." : " in " + options.namespace() + "."));
            } else {
                table.lines().forEach(terminal.out()::println);
            }
            return ExitCodes.DONE;
        }
    }

    private String[] row(String namespace, JsonNode document) {
        List<String> cells = new ArrayList<>();
        if (all) {
            cells.add(namespace);
        }
        Collections.addAll(
                cells,
                document.path("path").asText(),
                document.path("size").asText(),
                document.path("version").asText(),
                since(document),
                document.path("updatedBy").asText(),
                Progress.cut(document.path("summary").asText()));
        return cells.toArray(String[]::new);
    }

    /** How long ago a version was made. */
    static String since(JsonNode version) {
        return Table.age(Instant.parse(version.path("updatedAt").asText()).toEpochMilli(), Instant.now());
    }
}
