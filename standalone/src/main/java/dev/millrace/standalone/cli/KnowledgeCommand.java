package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.KnowledgeView;
import dev.millrace.client.Route;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Payload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace knowledge}: documents in which things are looked up. Does nothing itself; its subcommands do. */
@Command(
        name = "knowledge",
        footerHeading = "%nExamples:%n",
        footer = {
            "  knowledge add handbook.pdf --collection house",
            "  knowledge search 'Who may stop the wheel?' --collection house --limit 3",
            "  knowledge entities --type person"
        },
        synopsisSubcommandLabel = "COMMAND",
        description = "Takes documents in, and looks things up in them. Needs the knowledge service: `up --knowledge`.",
        subcommands = {
            KnowledgeCommand.Add.class,
            KnowledgeCommand.ListAll.class,
            KnowledgeCommand.Show.class,
            KnowledgeCommand.Search.class,
            KnowledgeCommand.Entities.class,
            KnowledgeCommand.Graph.class,
            KnowledgeCommand.Delete.class
        })
public final class KnowledgeCommand implements Runnable {

    private static final String ROUTE = "/v1/knowledge";
    private static final String DOCUMENTS = ROUTE + "/documents";

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    /** One that is about documents of a namespace. */
    abstract static class OfNamespace extends ClientCommand {

        @Option(
                names = "--namespace",
                paramLabel = "NAME",
                defaultValue = MemoryClient.DEFAULT_NAMESPACE,
                description = "Whose documents (default: ${DEFAULT-VALUE}).")
        private String namespace = MemoryClient.DEFAULT_NAMESPACE;

        final Route query(String path) {
            return new Route(path).with("namespace", namespace);
        }

        final Route document(String id) {
            return query(DOCUMENTS + '/' + Route.encoded(id));
        }
    }

    /** {@code millrace knowledge add}. */
    @Command(
            name = "add",
            description = {
                "Takes a document in, and waits until searches see it.",
                "A file is sent as it is; a URL is fetched by the service. What is known already and has not changed is left"
                        + " as it is."
            })
    static final class Add extends OfNamespace {

        private static final Duration LOOK_AGAIN = Duration.ofMillis(200);
        private static final Duration PATIENCE = Duration.ofMinutes(10);

        @Parameters(
                paramLabel = "FILE|URL",
                description = "The document: HTML, Markdown, text, PDF, .docx, .xlsx or .pptx.")
        private String source = "";

        @Option(
                names = "--collection",
                paramLabel = "NAME",
                description = "The collection that it goes into (default: default).")
        private @Nullable String collection;

        @Option(names = "--title", paramLabel = "TEXT", description = "What it is called (default: its first heading).")
        private @Nullable String title;

        @Option(names = "--force", description = "Take it in again although it has not changed.")
        private boolean force;

        @Override
        int run(GatewayClient client) throws IOException, InterruptedException {
            JsonNode document = source.toLowerCase(Locale.ROOT).matches("https?://.*") ? fetched(client) : sent(client);
            if (output().json()) {
                output().print(document);
                return ExitCodes.DONE;
            }
            KnowledgeView.Document known = Json.MAPPER.convertValue(document, KnowledgeView.Document.class);
            if (!known.status().equals("indexed")) {
                throw new CommandException(ExitCodes.FAILED, source + " is not known: " + known.error());
            }
            out("Document " + known.id() + " is known, with " + known.chunks() + " chunks: " + known.title());
            return ExitCodes.DONE;
        }

        private JsonNode sent(GatewayClient client) throws IOException {
            Path file = Path.of(source);
            if (!Files.isReadable(file) || Files.isDirectory(file)) {
                throw new CommandException(
                        ExitCodes.FAILED, "Expected a readable file or an http(s) URL, found none at " + source + ".");
            }
            String name = String.valueOf(file.getFileName());
            return client.put(
                    query(ROUTE + "/uploads/" + Route.encoded(name))
                            .with("collection", collection)
                            .with("title", title)
                            .with("force", force ? "true" : null)
                            .toString(),
                    Files.readAllBytes(file));
        }

        private JsonNode fetched(GatewayClient client) throws InterruptedException {
            String before = checkedAt(
                    client,
                    Payload.RagIngest.documentId(
                            Objects.requireNonNullElse(collection, Payload.RagIngest.DEFAULT_COLLECTION), source));
            KnowledgeView.Accepted accepted = client.post(
                    query(DOCUMENTS).toString(),
                    new KnowledgeView.Ingest(source, collection, title, null, force ? true : null, null),
                    KnowledgeView.Accepted.class);
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (System.nanoTime() < end) {
                try {
                    JsonNode document =
                            client.get(document(accepted.documentId()).toString());
                    // what is there from before is no answer, nor is that somebody is at it
                    String checked = document.path("checkedAt").asText();
                    if (!checked.isEmpty() && !checked.equals(before)) {
                        return document;
                    }
                } catch (GatewayClient.RefusedException e) {
                    if (!e.is(404)) {
                        throw e;
                    }
                }
                Thread.sleep(LOOK_AGAIN);
            }
            throw new CommandException(
                    ExitCodes.TIMED_OUT, "Document " + accepted.documentId() + " is still being taken in.");
        }

        private String checkedAt(GatewayClient client, String id) {
            try {
                return client.get(document(id).toString()).path("checkedAt").asText();
            } catch (GatewayClient.RefusedException e) {
                return "";
            }
        }
    }

    /** {@code millrace knowledge list}. */
    @Command(name = "list", description = "Lists the documents that are known.")
    static final class ListAll extends OfNamespace {

        @Option(names = "--collection", paramLabel = "NAME", description = "Of this collection alone.")
        private @Nullable String collection;

        @Override
        int run(GatewayClient client) {
            output().print(
                            client.pages(query(DOCUMENTS).with("collection", collection), "after", "documents"),
                            KnowledgeView.Document.class,
                            "No documents.",
                            ListAll::table);
            return ExitCodes.DONE;
        }

        private static List<String> table(List<KnowledgeView.Document> documents) {
            Table table = new Table("DOCUMENT", "COLLECTION", "STATUS", "CHUNKS", "TITLE", "SOURCE");
            for (KnowledgeView.Document document : documents) {
                table.add(
                        document.id(),
                        document.collection(),
                        document.status(),
                        Integer.toString(document.chunks()),
                        Progress.cut(document.title()),
                        Progress.cut(document.source()));
            }
            return table.lines();
        }
    }

    /** {@code millrace knowledge show}. */
    @Command(name = "show", description = "Shows everything about a document, as JSON.")
    static final class Show extends OfNamespace {

        @Parameters(paramLabel = "DOCUMENT", description = "Its id.")
        private String id = "";

        @Override
        int run(GatewayClient client) {
            output().print(client.get(document(id).toString()));
            return ExitCodes.DONE;
        }
    }

    /** {@code millrace knowledge search}. */
    @Command(name = "search", description = "Looks something up: passages that answer a question, the best first.")
    static final class Search extends OfNamespace {

        @Parameters(paramLabel = "QUESTION", description = "What is wanted.")
        private String question = "";

        @Option(names = "--collection", paramLabel = "NAME", description = "In this collection alone.")
        private @Nullable String collection;

        @Option(
                names = "--limit",
                paramLabel = "N",
                defaultValue = "5",
                description = "At most so many passages, 1 to 50 (default: ${DEFAULT-VALUE}).")
        private int limit = 5;

        @Option(
                names = "--mode",
                paramLabel = "MODE",
                defaultValue = "hybrid",
                description = "hybrid, text or vector (default: ${DEFAULT-VALUE}).")
        private String mode = "hybrid";

        @Override
        int run(GatewayClient client) {
            Route query = query(ROUTE + "/search")
                    .with("q", question)
                    .with("collection", collection)
                    .with("limit", limit)
                    .with("mode", mode);
            output().print(
                            client.get(query.toString()).path("hits"),
                            KnowledgeView.Hit.class,
                            "Nothing that is known is about that.",
                            Search::passages);
            return ExitCodes.DONE;
        }

        private static List<String> passages(List<KnowledgeView.Hit> hits) {
            List<String> lines = new ArrayList<>();
            for (KnowledgeView.Hit hit : hits) {
                String section =
                        hit.section().isEmpty() ? "" : ", " + hit.section().getLast();
                lines.add("[" + (hits.indexOf(hit) + 1) + "] " + hit.title() + section + " (" + hit.source() + ")");
                hit.text().lines().forEach(line -> lines.add("    " + line));
            }
            return lines;
        }
    }

    /** {@code millrace knowledge entities}. */
    @Command(
            name = "entities",
            description =
                    "People, places and things that texts have mentioned: all of them, or those that are looked for.")
    static final class Entities extends OfNamespace {

        @Parameters(paramLabel = "NAME", arity = "0..1", description = "A name, or words for what it is.")
        private @Nullable String text;

        @Option(names = "--type", paramLabel = "TYPE", description = "Of this kind alone, such as person.")
        private @Nullable String type;

        @Option(
                names = "--scope",
                paramLabel = "SCOPE",
                description = "Of this scope alone: global, agent:NAME, thread:ID or a name of your own.")
        private @Nullable String scope;

        @Override
        int run(GatewayClient client) {
            Route query = query(ROUTE + "/entities")
                    .with("q", text)
                    .with("type", type)
                    .with("scope", scope);
            output().print(
                            text == null
                                    ? client.pages(query, "after", "entities")
                                    : client.get(query.with("limit", 50).toString())
                                            .path("entities"),
                            KnowledgeView.Entity.class,
                            "No entities.",
                            Entities::table);
            return ExitCodes.DONE;
        }

        private static List<String> table(List<KnowledgeView.Entity> entities) {
            Table table = new Table("ENTITY", "TYPE", "NAME", "MENTIONS", "SCOPE", "ALIASES");
            for (KnowledgeView.Entity entity : entities) {
                table.add(
                        entity.id(),
                        entity.type(),
                        Progress.cut(entity.name()),
                        Integer.toString(entity.mentionCount()),
                        entity.scope(),
                        Progress.cut(String.join(", ", entity.aliases())));
            }
            return table.lines();
        }
    }

    /** {@code millrace knowledge graph}. */
    @Command(
            name = "graph",
            description =
                    "What has to do with what: what mentions an entity, what it is related to, which chunk is next.")
    static final class Graph extends OfNamespace {

        @Parameters(
                paramLabel = "NODE",
                description = "entity:ID, source:ID, document:ID or chunk:DOCUMENT/NUMBER; an ID alone is an entity's.")
        private String node = "";

        @Option(
                names = "--depth",
                paramLabel = "N",
                defaultValue = "1",
                description = "How many edges away, 1 to 3 (default: ${DEFAULT-VALUE}).")
        private int depth = 1;

        @Override
        int run(GatewayClient client) {
            JsonNode answer = client.get(query(ROUTE + "/graph")
                    .with("from", node.contains(":") ? node : "entity:" + node)
                    .with("depth", depth)
                    .toString());
            if (output().json()) {
                output().print(answer);
                return ExitCodes.DONE;
            }
            KnowledgeView.Graph graph = Json.MAPPER.convertValue(answer, KnowledgeView.Graph.class);
            Map<String, String> labels = new HashMap<>();
            graph.nodes().forEach(one -> labels.put(one.id(), Progress.cut(one.label())));
            Table table = new Table("FROM", "EDGE", "TO", "WHAT THE TEXT SAYS");
            for (KnowledgeView.Edge edge : graph.edges()) {
                table.add(
                        Objects.requireNonNullElse(labels.get(edge.from()), edge.from()),
                        edge.kind(),
                        Objects.requireNonNullElse(labels.get(edge.to()), edge.to()),
                        edge.label() != null ? edge.label() : edge.similarity() != null ? "alike, not the same" : "");
            }
            table.lines().forEach(this::out);
            if (!graph.complete()) {
                out("There is more: ask for a node nearer by, or with --json.");
            }
            return ExitCodes.DONE;
        }
    }

    /** {@code millrace knowledge delete}. */
    @Command(name = "delete", description = "Takes a document away, with all of its chunks.")
    static final class Delete extends OfNamespace {

        @Parameters(paramLabel = "DOCUMENT", description = "Its id.")
        private String id = "";

        @Override
        int run(GatewayClient client) {
            JsonNode gone = client.delete(document(id).toString(), Map.of());
            done(gone, "Document " + id + " is gone: " + gone.path("title").asText());
            return ExitCodes.DONE;
        }
    }
}
