package dev.millrace.client;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.MemoryPage;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the agents of a namespace remember: documents of markdown. Whatever is changed is changed under a condition,
 * the tag of what it replaces, so that nothing newer is lost: a {@link RequestRefusedException} with status 412 says
 * that something newer is there.
 */
public final class NamespaceMemory {

    private static final int PAGE = 1_000;

    private final Millrace millrace;

    NamespaceMemory(Millrace millrace) {
        this.millrace = millrace;
    }

    /** The documents, by path. */
    public Stream<MemoryPage.Version> documents() {
        return millrace.http().items(route().with("limit", PAGE), "cursor", "documents", MemoryPage.Version.class);
    }

    /** A document with its tag; empty if it is not there. */
    public Optional<GatewayHttp.Text> find(String path) {
        try {
            return Optional.of(millrace.http().text(at(path)));
        } catch (RequestRefusedException e) {
            if (e.status() == 404) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** The versions that are kept of a document, the newest first. */
    public List<MemoryPage.Version> versions(String path) {
        return millrace.http()
                .get(at(path).at("versions"), MemoryPage.Versions.class)
                .versions();
    }

    /** A document as it was. */
    public String read(String path, long version) {
        return millrace.http()
                .text(at(path).at("versions").at(Long.toString(version)))
                .text();
    }

    /** Writes a document that is not there yet. */
    public MemoryPage.Version create(String path, String content, @Nullable String by) {
        return version(millrace.http().putText(at(path).with("by", by), content, Map.of("If-None-Match", "*")));
    }

    /** Writes a document in place of the one with this tag. */
    public MemoryPage.Version replace(String path, String content, String etag, @Nullable String by) {
        return version(millrace.http().putText(at(path).with("by", by), content, Map.of("If-Match", etag)));
    }

    /** Takes the document with this tag away. Its versions stay. */
    public void delete(String path, String etag, @Nullable String by) {
        done(millrace.http().delete(at(path).with("by", by), Map.of("If-Match", etag)));
    }

    /** Makes the document with this tag what it was in a version. */
    public MemoryPage.Version restore(String path, long version, String etag, @Nullable String by) {
        return version(millrace.http()
                .postNothing(
                        at(path).at("versions")
                                .at(Long.toString(version))
                                .at("restore")
                                .with("by", by),
                        Map.of("If-Match", etag)));
    }

    private static MemoryPage.Version version(JsonNode answer) {
        done(answer);
        return GatewayHttp.as(answer, MemoryPage.Version.class);
    }

    /** An edit may be stored and not judged in time; then nobody knows yet what became of it. */
    private static void done(JsonNode answer) {
        if ("accepted".equals(answer.path("status").asText(""))) {
            throw new MillraceException(answer.path("note").asText("The edit is stored, and not judged yet."), null);
        }
    }

    private Route route() {
        return new Route("/v1/memory").at(millrace.namespace());
    }

    private Route at(String path) {
        Route route = route();
        for (String segment : path.split("/", -1)) {
            route = route.at(segment);
        }
        return route;
    }
}
