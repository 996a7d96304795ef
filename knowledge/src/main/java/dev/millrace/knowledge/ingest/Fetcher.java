package dev.millrace.knowledge.ingest;

import dev.millrace.http.guarded.GuardedHttp;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Gets documents: from the network, with the address rules of the HTTP tools, from the workspace and from nowhere else
 * on the disk, or from the source itself.
 */
public final class Fetcher {

    private static final int MAX_REDIRECTS = 5;
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);

    private final GuardedHttp http;
    private final Function<String, Optional<Path>> workspaces;
    private final int maxBytes;

    /**
     * A document as it came.
     *
     * @param name that ends as its format does, such as {@code guide.md}
     * @param contentType as a server says it; {@code null} = nobody does
     * @param bytes shared, not to be changed
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Fetched(String name, @Nullable String contentType, byte[] bytes) {}

    /**
     * Gets nothing yet.
     *
     * @param workspaces whose files may be read for a namespace; empty = none may
     * @param maxBytes of a document
     */
    public Fetcher(GuardedHttp http, Function<String, Optional<Path>> workspaces, int maxBytes) {
        this.http = http;
        this.workspaces = workspaces;
        this.maxBytes = maxBytes;
    }

    /** The document from there, for this namespace. */
    public Fetched fetch(String namespace, Source source) throws IngestException, InterruptedException {
        if (source.isText()) {
            return new Fetched(
                    "text.md",
                    null,
                    source.text().substring(Source.TEXT.length()).getBytes(StandardCharsets.UTF_8));
        }
        return source.isUrl() ? download(source.text()) : file(namespace, source.text());
    }

    private Fetched download(String first) throws IngestException, InterruptedException {
        URI url = url(first);
        for (int hop = 0; hop <= MAX_REDIRECTS; hop++) {
            GuardedHttp.Download answer;
            try {
                answer = http.download(url, LIMIT);
            } catch (UnknownHostException e) {
                throw GuardedHttp.isRefused(e)
                        ? new IngestException("address_refused", String.valueOf(e.getMessage()))
                        : new IngestException("unknown_host", "Host \"" + url.getHost() + "\" not found");
            } catch (IOException e) {
                throw new IngestException("fetch_failed", "The request failed: " + e.getMessage());
            }
            if (REDIRECTS.contains(answer.status()) && answer.location() != null) {
                url = url(url.resolve(url(url, answer.location())).toString());
            } else if (answer.status() != 200) {
                throw new IngestException("http_status", "The server answered with status " + answer.status());
            } else if (answer.truncated()) {
                throw tooLarge();
            } else {
                String path = url.getPath() == null ? "" : url.getPath();
                return new Fetched(path.substring(path.lastIndexOf('/') + 1), answer.contentType(), answer.bytes());
            }
        }
        throw new IngestException("too_many_redirects", "More than " + MAX_REDIRECTS + " redirects");
    }

    private static URI url(URI base, String location) throws IngestException {
        try {
            return base.resolve(new URI(location));
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new IngestException("bad_redirect", "The server redirects to what is no URL");
        }
    }

    private static URI url(String text) throws IngestException {
        try {
            URI url = new URI(text.strip());
            if (url.getHost() != null && url.getUserInfo() == null && new Source(text).isUrl()) {
                return url;
            }
        } catch (URISyntaxException e) {
            // said below
        }
        throw new IngestException(
                "bad_url", "source: expected an http or https URL with a host, and no user in it, found " + text);
    }

    private Fetched file(String namespace, String name) throws IngestException {
        Path root = workspaces.apply(namespace).orElse(null);
        if (root == null) {
            throw new IngestException(
                    "no_workspace", "source: expected a URL or text://, since no workspace is set, found " + name);
        }
        try {
            Path real = root.toRealPath();
            Path file = real.resolve(name).toRealPath();
            // also where a link leads out of it
            if (!file.startsWith(real) || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                throw unknownFile(name);
            }
            if (Files.size(file) > maxBytes) {
                throw tooLarge();
            }
            return new Fetched(name, null, Files.readAllBytes(file));
        } catch (IOException | InvalidPathException e) {
            throw unknownFile(name);
        }
    }

    private static IngestException unknownFile(String name) {
        return new IngestException(
                "unknown_file", "source: expected a file of the workspace, found none called " + name);
    }

    IngestException tooLarge() {
        return new IngestException("document_too_large", "expected at most " + maxBytes + " bytes, found more");
    }

    /** The largest document, in bytes. */
    public int maxBytes() {
        return maxBytes;
    }
}
