package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.api.MemoryPage;
import dev.millrace.schemas.Json;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace memory list}: what there is, as a table. */
@Command(name = "list", description = "Lists the documents of memory with what each is about.")
public final class MemoryListCommand implements Callable<Integer> {

    private static final String NAMESPACE = "namespace";

    @Mixin
    private OutputOptions output = new OutputOptions();

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
            ArrayNode documents = Json.MAPPER.createArrayNode();
            for (String namespace : namespaces) {
                memory.documents(namespace)
                        .forEach(document ->
                                documents.addObject().put(NAMESPACE, namespace).setAll((ObjectNode) document));
            }
            output.print(
                    terminal,
                    documents,
                    "Nothing is remembered" + (all ? "." : " in " + options.namespace() + "."),
                    () -> table(documents));
            return ExitCodes.DONE;
        }
    }

    private List<String> table(JsonNode documents) {
        Table table = all
                ? new Table("NAMESPACE", "PATH", "SIZE", "VERSION", "SINCE", "BY", "SUMMARY")
                : new Table("PATH", "SIZE", "VERSION", "SINCE", "BY", "SUMMARY");
        for (JsonNode one : documents) {
            MemoryPage.Version document = MemoryClient.version(one);
            List<String> cells = new ArrayList<>(List.of(
                    document.path(),
                    Long.toString(document.size()),
                    Long.toString(document.version()),
                    since(document),
                    document.updatedBy(),
                    Progress.cut(document.summary())));
            if (all) {
                cells.addFirst(one.path(NAMESPACE).asText());
            }
            table.add(cells.toArray(String[]::new));
        }
        return table.lines();
    }

    /** How long ago a version was made. */
    static String since(MemoryPage.Version version) {
        return Table.age(Instant.parse(version.updatedAt()).toEpochMilli(), Instant.now());
    }
}
