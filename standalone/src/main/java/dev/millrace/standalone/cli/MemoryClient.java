package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.MemoryPage;
import dev.millrace.schemas.Json;
import dev.millrace.standalone.cli.GatewayClient.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Memory over HTTP. Whatever is written is written under a condition, so that nothing newer is lost. */
final class MemoryClient {

    private static final int NOT_FOUND = 404;
    private static final int PRECONDITION_FAILED = 412;
    /** What is there already is no condition that holds: there must be nothing. */
    static final String NOTHING = "";

    private final GatewayClient client;

    MemoryClient(GatewayClient client) {
        this.client = client;
    }

    /** The document is another one than the caller knows. */
    static final class ChangedException extends CommandException {
        private static final long serialVersionUID = 1L;

        ChangedException(String message) {
            super(ExitCodes.FAILED, message);
        }
    }

    /** The namespaces that remember something. */
    List<String> namespaces() {
        List<String> namespaces = new ArrayList<>();
        String cursor = null;
        do {
            MemoryPage.Namespaces page =
                    client.get(new Query("/v1/memory").with("cursor", cursor).toString(), MemoryPage.Namespaces.class);
            page.namespaces().forEach(one -> namespaces.add(one.namespace()));
            cursor = page.next();
        } while (cursor != null);
        return namespaces;
    }

    /** The documents of a namespace, by path. */
    List<JsonNode> documents(String namespace) {
        List<JsonNode> documents = new ArrayList<>();
        String cursor = null;
        do {
            JsonNode page = client.get(new Query(path(namespace))
                    .with("limit", 1_000)
                    .with("cursor", cursor)
                    .toString());
            page.path("documents").forEach(documents::add);
            cursor = page.hasNonNull("next") ? page.path("next").asText() : null;
        } while (cursor != null);
        return documents;
    }

    /** The versions of a document, the newest first; at least one. */
    List<JsonNode> versions(String namespace, String path) {
        List<JsonNode> versions = new ArrayList<>();
        client.get(path(namespace, path) + "/versions").path("versions").forEach(versions::add);
        return versions;
    }

    /** The document as it is now; empty if it is not there. */
    Optional<GatewayClient.Text> read(String namespace, String path) {
        try {
            return Optional.of(client.text(path(namespace, path)));
        } catch (RefusedException e) {
            if (e.is(NOT_FOUND)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** A document as it was. */
    String read(String namespace, String path, long version) {
        return client.text(path(namespace, path) + "/versions/" + version).text();
    }

    /**
     * Writes a document whole.
     *
     * @param etag of what it replaces, or {@link #NOTHING}
     * @return the new version
     * @throws ChangedException if something else is there
     */
    MemoryPage.Version write(String namespace, String path, String content, String etag, String by) {
        return version(done(() -> client.put(query(path(namespace, path), by), content, condition(etag))));
    }

    /** Takes a document away. The same otherwise. */
    void remove(String namespace, String path, String etag, String by) {
        done(() -> client.delete(query(path(namespace, path), by), condition(etag)));
    }

    /** Makes a document what it was in a version. The same otherwise. */
    MemoryPage.Version restore(String namespace, String path, long version, String etag, String by) {
        return version(done(() -> client.postNothing(
                query(path(namespace, path) + "/versions/" + version + "/restore", by), condition(etag))));
    }

    @FunctionalInterface
    private interface Edit {
        JsonNode send();
    }

    /** A version of a document out of an answer. */
    static MemoryPage.Version version(JsonNode answer) {
        return Json.MAPPER.convertValue(answer, MemoryPage.Version.class);
    }

    private static JsonNode done(Edit edit) {
        try {
            JsonNode answer = edit.send();
            if (answer.path("status").asText("").equals("accepted")) {
                throw new CommandException(
                        ExitCodes.TIMED_OUT, answer.path("note").asText());
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
        return new Query(path).with("by", by.isBlank() ? null : by).toString();
    }

    private static String path(String namespace) {
        return "/v1/memory/" + GatewayClient.encoded(namespace);
    }

    private static String path(String namespace, String path) {
        return Stream.of(path.split("/", -1))
                .map(GatewayClient::encoded)
                .reduce(path(namespace), (before, segment) -> before + '/' + segment);
    }
}
