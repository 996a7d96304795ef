package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.api.MemoryPage;
import dev.millrace.schemas.Json;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace memory list}: what there is, as a table. */
@Command(name = "list", description = "Lists the documents of memory with what each is about.")
final class MemoryListCommand extends ClientCommand {

    private static final String NAMESPACE = "namespace";

    @Mixin
    private NamespaceOption namespace = new NamespaceOption();

    @Option(names = "--all", description = "Of all namespaces.")
    private boolean all;

    /** A document and whose it is. */
    private record Document(String namespace, MemoryPage.Version version) {}

    @Override
    int run(GatewayClient client) {
        MemoryClient named = namespace.memory(client);
        ArrayNode documents = Json.MAPPER.createArrayNode();
        for (MemoryClient memory : all ? MemoryClient.all(client) : List.of(named)) {
            memory.documents()
                    .forEach(document -> documents
                            .addObject()
                            .put(NAMESPACE, memory.namespace())
                            .setAll((ObjectNode) document));
        }
        output().print(
                        documents,
                        "Nothing is remembered" + (all ? "." : " in " + named.namespace() + "."),
                        () -> table(GatewayClient.each(documents, MemoryListCommand::document)));
        return ExitCodes.DONE;
    }

    private static Document document(JsonNode json) {
        return new Document(json.path(NAMESPACE).asText(), Json.MAPPER.convertValue(json, MemoryPage.Version.class));
    }

    private List<String> table(List<Document> documents) {
        Table table = all
                ? new Table("NAMESPACE", "PATH", "SIZE", "VERSION", "SINCE", "BY", "SUMMARY")
                : new Table("PATH", "SIZE", "VERSION", "SINCE", "BY", "SUMMARY");
        for (Document document : documents) {
            MemoryPage.Version version = document.version();
            List<String> cells = new ArrayList<>(List.of(
                    version.path(),
                    Long.toString(version.size()),
                    Long.toString(version.version()),
                    since(version),
                    version.updatedBy(),
                    Progress.cut(version.summary())));
            if (all) {
                cells.addFirst(document.namespace());
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
