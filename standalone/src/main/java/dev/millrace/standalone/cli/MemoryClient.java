package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.millrace.api.MemoryPage;
import dev.millrace.client.GatewayHttp;
import dev.millrace.client.Route;
import dev.millrace.schemas.Json;
import dev.millrace.standalone.cli.GatewayClient.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The memory of a namespace over HTTP. Whatever is written is written under a condition, so that nothing newer is lost.
 */
record MemoryClient(GatewayClient client, String namespace) {

    static final String DEFAULT_NAMESPACE = "default";

    /** What is there already is no condition that holds: there must be nothing. */
    static final String NOTHING = "";

    private static final String ALL = "/v1/memory";
    private static final int NOT_FOUND = 404;
    private static final int PRECONDITION_FAILED = 412;

    /** The document is another one than the caller knows. */
    static final class ChangedException extends CommandException {
        private static final long serialVersionUID = 1L;

        ChangedException(String message) {
            super(ExitCodes.FAILED, message);
        }
    }

    /** The memory of every namespace that remembers something. */
    static List<MemoryClient> all(GatewayClient client) {
        List<MemoryClient> all = new ArrayList<>();
        String cursor = null;
        do {
            MemoryPage.Namespaces page =
                    client.get(new Route(ALL).with("cursor", cursor).toString(), MemoryPage.Namespaces.class);
            page.namespaces().forEach(one -> all.add(new MemoryClient(client, one.namespace())));
            cursor = page.next();
        } while (cursor != null);
        return all;
    }

    /** {@link Hint#of} with this subcommand of {@code memory}, for the same memory. */
    String hint(String... words) {
        Stream<String> whose = namespace.equals(DEFAULT_NAMESPACE) ? Stream.of() : Stream.of("--namespace", namespace);
        return client.hint(Stream.of(Stream.of("memory"), Stream.of(words), whose)
                .flatMap(some -> some)
                .toArray(String[]::new));
    }

    /** The documents by path, as {@link MemoryPage.Version}s. */
    ArrayNode documents() {
        return client.pages(new Route(path()).with("limit", 1_000), "cursor", "documents");
    }

    /** The versions of a document, the newest first, as {@link MemoryPage.Version}s; at least one. */
    JsonNode versions(String path) {
        return client.get(path(path) + "/versions").path("versions");
    }

    /** The document as it is now; empty if it is not there. */
    Optional<GatewayHttp.Text> find(String path) {
        try {
            return Optional.of(client.text(path(path)));
        } catch (RefusedException e) {
            if (e.is(NOT_FOUND)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** The document as it is now. */
    GatewayHttp.Text read(String path) {
        return find(path)
                .orElseThrow(() -> new CommandException(
                        ExitCodes.FAILED,
                        "There is no document " + path + " in the memory of " + namespace + ". `" + hint("list")
                                + "` has those that there are."));
    }

    /** A document as it was. */
    String read(String path, long version) {
        return client.text(path(path) + "/versions/" + version).text();
    }

    /**
     * Writes a document whole.
     *
     * @param etag of what it replaces, or {@link #NOTHING}
     * @return the new version
     * @throws ChangedException if something else is there
     */
    MemoryPage.Version write(String path, String content, String etag, String by) {
        return version(done(() -> client.put(query(path(path), by), content, condition(etag))));
    }

    /** Takes a document away. The same otherwise. */
    void remove(String path, String etag, String by) {
        done(() -> client.delete(query(path(path), by), condition(etag)));
    }

    /** Makes a document what it was in a version. The same otherwise. */
    MemoryPage.Version restore(String path, long version, String etag, String by) {
        return version(done(() ->
                client.postNothing(query(path(path) + "/versions/" + version + "/restore", by), condition(etag))));
    }

    private static MemoryPage.Version version(JsonNode answer) {
        return Json.MAPPER.convertValue(answer, MemoryPage.Version.class);
    }

    private static JsonNode done(Supplier<JsonNode> edit) {
        try {
            JsonNode answer = edit.get();
            if (answer.isObject()) {
                MemoryPage.EditAccepted accepted = Json.MAPPER.convertValue(answer, MemoryPage.EditAccepted.class);
                if ("accepted".equals(accepted.status())) {
                    throw new CommandException(ExitCodes.TIMED_OUT, accepted.note());
                }
            }
            return answer;
        } catch (RefusedException e) {
            if (e.is(PRECONDITION_FAILED)) {
                throw new ChangedException(String.valueOf(e.getMessage()));
            }
            throw e;
        }
    }

    private static Map<String, String> condition(String etag) {
        return etag.equals(NOTHING) ? Map.of("If-None-Match", "*") : Map.of("If-Match", etag);
    }

    private static String query(String path, String by) {
        return new Route(path).with("by", by.isBlank() ? null : by).toString();
    }

    private String path() {
        return ALL + '/' + Route.encoded(namespace);
    }

    private String path(String path) {
        return Stream.of(path.split("/", -1))
                .map(Route::encoded)
                .reduce(path(), (before, segment) -> before + '/' + segment);
    }
}
