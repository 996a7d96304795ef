package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code millrace memory} against a gateway that keeps documents as the real one does, in a map. */
class MemoryCommandsTest {

    @TempDir
    Path folder;

    private Documents gateway;

    @BeforeEach
    @SuppressWarnings("NullAway.Init")
    void open() throws IOException {
        gateway = new Documents();
    }

    @AfterEach
    void close() {
        gateway.close();
    }

    @Test
    void shouldListAndShow() {
        gateway.write("default", "facts/user.md", "# Ada\n> Summary: an engineer\n");
        gateway.write("acme", "facts/mill.md", "# Mill");

        assertThat(memory("list").out().lines())
                .satisfiesExactly(
                        heading -> assertThat(heading).matches("PATH +SIZE +VERSION +SINCE +BY +SUMMARY"),
                        one -> assertThat(one).matches("facts/user.md +\\d+ +1 .* person +of facts/user.md"));
        assertThat(memory("list", "--all").out()).contains("default ", "acme ");
        assertThat(memory("list", "--namespace", "none").err()).contains("Nothing is remembered in none");
        assertThat(memory("show", "facts/mill.md", "--namespace", "acme").out()).isEqualTo("# Mill\n");
        CommandRun missing = memory("show", "facts/none.md");
        assertThat(missing.exitCode()).isEqualTo(1);
        assertThat(missing.err()).contains("no document facts/none.md");
    }

    @Test
    @DisplayName("undo goes back one version and says whose it is; it does so only if nobody was quicker")
    void shouldUndo() {
        gateway.write("default", "facts/user.md", "one");
        gateway.write("default", "facts/user.md", "two");

        CommandRun undo = memory("undo", "facts/user.md", "--by", "ada");

        assertThat(undo.out()).contains("as in version 1 again; that is version 3");
        assertThat(gateway.content("default", "facts/user.md")).isEqualTo("one");
        assertThat(gateway.requests).contains("POST /v1/memory/default/facts/user.md/versions/1/restore?by=ada");
        assertThat(memory("history", "facts/user.md").out().lines()).hasSize(4);

        assertThat(memory("remove", "facts/user.md").exitCode()).isZero();
        assertThat(gateway.content("default", "facts/user.md")).isNull();
        assertThat(memory("undo", "facts/user.md").exitCode()).isZero();
        assertThat(gateway.content("default", "facts/user.md")).isEqualTo("one");
    }

    @Test
    void shouldEditInTheEditorOfThePerson() throws IOException {
        Path editor = folder.resolve("editor");
        Files.writeString(editor, "#!/bin/sh\nprintf '# Ada\\n' > \"$1\"\n");
        String command = "sh '" + editor + "'";

        assertThat(memory("edit", "facts/user.md", "--editor", command).exitCode())
                .isZero();
        assertThat(gateway.content("default", "facts/user.md")).isEqualTo("# Ada\n");
        assertThat(memory("edit", "facts/user.md", "--editor", command).err()).contains("Nothing was changed");
        gateway.alwaysChanged = true;
        Files.writeString(editor, "#!/bin/sh\nprintf '# Bob\\n' > \"$1\"\n");
        CommandRun late = memory("edit", "facts/user.md", "--editor", command);
        assertThat(late.exitCode()).isEqualTo(1);
        assertThat(late.err()).contains("another one by now", "Your text is in ");
        assertThat(memory("edit", "facts/user.md", "--editor", "false").err()).contains("nothing was written");
    }

    @Test
    @DisplayName("what is exported is imported as far as it was changed, and nothing newer is overwritten")
    void shouldExportAndImportWhatDiffers() throws IOException {
        gateway.write("default", "facts/user.md", "one");
        gateway.write("default", "facts/same.md", "same");
        gateway.write("default", "facts/newer.md", "old");
        gateway.write("default", "facts/both.md", "old");
        gateway.write("default", "facts/gone.md", "old");
        gateway.write("..", "facts/user.md", "a namespace that is no folder");
        CommandRun export = memory("export", dir(), "--all");
        assertThat(export.exitCode()).as(export.err()).isZero();
        assertThat(Files.readString(folder.resolve("m/default/facts/user.md"))).isEqualTo("one");
        assertThat(folder.resolve("m/%2E./facts/user.md")).exists();

        Files.writeString(folder.resolve("m/default/facts/user.md"), "two");
        Files.writeString(folder.resolve("m/default/facts/both.md"), "mine");
        Files.writeString(folder.resolve("m/default/facts/new.md"), "new");
        gateway.write("default", "facts/newer.md", "new");
        gateway.write("default", "facts/both.md", "theirs");
        gateway.remove("default", "facts/gone.md");
        gateway.requests.clear();

        CommandRun dry = memoryImport("--dry-run");
        assertThat(gateway.requests).noneMatch(request -> request.startsWith("PUT"));
        CommandRun run = memoryImport("--by", "ada");

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).isEqualTo("new: default/facts/new.md\nchanged: default/facts/user.md\n");
        assertThat(dry.out()).isEqualTo(run.out());
        assertThat(run.err())
                .contains(
                        "conflict: default/facts/both.md",
                        "newer there: default/facts/newer.md",
                        "gone there: default/facts/gone.md",
                        "1 new, 1 changed, 2 same, 1 newer there, 1 gone there, 1 conflict.");
        assertThat(gateway.content("default", "facts/user.md")).isEqualTo("two");
        assertThat(gateway.content("default", "facts/both.md")).isEqualTo("theirs");
        assertThat(gateway.content("default", "facts/gone.md")).isNull();

        CommandRun again = memoryImport("--force");
        assertThat(again.exitCode()).as(again.err()).isZero();
        assertThat(again.out()).isEqualTo("changed: default/facts/both.md\n");
        assertThat(gateway.content("default", "facts/both.md")).isEqualTo("mine");
    }

    @Test
    @DisplayName("an export replaces what it has written itself, and no file that somebody has changed")
    void shouldKeepWhatWasChangedInTheFolder() throws IOException {
        gateway.write("default", "facts/user.md", "one");
        gateway.write("default", "facts/mine.md", "one");
        memory("export", dir());
        Files.writeString(folder.resolve("m/default/facts/mine.md"), "mine");
        gateway.write("default", "facts/user.md", "two");
        gateway.write("default", "facts/mine.md", "two");

        CommandRun export = memory("export", dir());

        assertThat(export.exitCode()).isEqualTo(1);
        assertThat(export.err()).contains("conflict: default/facts/mine.md");
        assertThat(Files.readString(folder.resolve("m/default/facts/user.md"))).isEqualTo("two");
        assertThat(Files.readString(folder.resolve("m/default/facts/mine.md"))).isEqualTo("mine");
        assertThat(memory("export", dir(), "--force").exitCode()).isZero();
        assertThat(Files.readString(folder.resolve("m/default/facts/mine.md"))).isEqualTo("two");
    }

    @Test
    void shouldRefuseWhatIsNoDocument() throws IOException {
        Path facts = Files.createDirectories(folder.resolve("m/default/facts"));
        Files.writeString(facts.resolve("good.md"), "good");
        Files.writeString(facts.resolve("a..b.md"), "x");
        Files.writeString(facts.resolve("user.txt"), "x");
        Files.writeString(facts.resolve("large.md"), "x".repeat(15 * 1024 + 1));
        Files.write(facts.resolve("bytes.md"), new byte[] {(byte) 0xC3, 0x28});
        Files.writeString(facts.resolve(".hidden.md"), "x");
        Files.createDirectories(facts.resolve("deeper"));
        Files.writeString(facts.resolve("deeper/x.md"), "x");
        Files.writeString(folder.resolve("m/loose.md"), "x");
        Files.createDirectories(folder.resolve("m/%2e%2e/facts"));
        Files.writeString(folder.resolve("secret.md"), "secret");
        link(facts.resolve("link.md"), folder.resolve("secret.md"));
        link(folder.resolve("m/other"), folder.resolve("m/default"));

        CommandRun run = memoryImport();

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).isEqualTo("new: default/facts/good.md\n");
        assertThat(run.err())
                .contains(
                        "refused: default/facts/a..b.md: expected facts/",
                        "refused: default/facts/user.txt",
                        "refused: default/facts/large.md: expected at most 15360 bytes",
                        "refused: default/facts/bytes.md: it is not UTF-8",
                        "refused: default/facts/deeper/x.md",
                        "refused: loose.md: it lies in no namespace's folder",
                        "refused: %2e%2e: its name is no namespace's",
                        "refused: default/facts/link.md: it is a link",
                        "refused: other: it is a link")
                .doesNotContain("hidden");
        assertThat(gateway.documents).hasSize(1);
    }

    @Test
    void shouldNotWriteThroughLinks() throws IOException {
        gateway.write("default", "facts/user.md", "one");
        Path outside = Files.createDirectory(folder.resolve("outside"));
        Files.createDirectories(folder.resolve("m/default"));
        link(folder.resolve("m/default/facts"), outside);

        CommandRun export = memory("export", dir());

        assertThat(export.exitCode()).isEqualTo(1);
        assertThat(export.err()).contains("is a link; nothing is written through one");
        assertThat(outside).isEmptyDirectory();

        Files.delete(folder.resolve("m/default/facts"));
        Files.createDirectory(folder.resolve("m/default/facts"));
        Path victim = Files.writeString(folder.resolve("victim"), "victim");
        link(folder.resolve("m/default/facts/user.md"), victim);
        assertThat(memory("export", dir(), "--force").exitCode()).isEqualTo(1);
        assertThat(victim).hasContent("victim");
    }

    @Test
    @DisplayName("a gateway that names a place outside of the folder makes no file")
    void shouldNotBelieveTheGateway() {
        gateway.write("default", "../../escaped.md", "x");

        CommandRun export = memory("export", dir());

        assertThat(export.exitCode()).isEqualTo(1);
        assertThat(export.err()).contains("Memory has no such place");
        assertThat(folder.resolve("escaped.md")).doesNotExist();
    }

    private CommandRun memoryImport(String... more) {
        List<String> arguments = new ArrayList<>(List.of("import", dir()));
        arguments.addAll(List.of(more));
        return memory(arguments.toArray(String[]::new));
    }

    private CommandRun memory(String... arguments) {
        List<String> all = new ArrayList<>(List.of("memory"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--url", gateway.url()));
        return CommandRun.of(all.toArray(String[]::new));
    }

    private String dir() {
        return folder.resolve("m").toString();
    }

    private static void link(Path link, Path target) throws IOException {
        try {
            Files.createSymbolicLink(link, target);
        } catch (FileSystemException e) {
            throw new AssertionError("this file system has no links", e);
        }
    }

    /** Memory as its HTTP API has it. */
    private static final class Documents implements AutoCloseable {
        private final Map<String, List<Optional<String>>> documents = new TreeMap<>();
        private final List<String> requests = new ArrayList<>();
        private final HttpServer server;
        private boolean alwaysChanged;

        Documents() throws IOException {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/v1/memory", this::answer);
            server.start();
        }

        String url() {
            return "http://127.0.0.1:" + server.getAddress().getPort();
        }

        synchronized void write(String namespace, String path, String content) {
            documents
                    .computeIfAbsent(namespace + '/' + path, key -> new ArrayList<>())
                    .add(Optional.of(content));
        }

        synchronized void remove(String namespace, String path) {
            documents.getOrDefault(namespace + '/' + path, new ArrayList<>()).add(Optional.empty());
        }

        synchronized @Nullable String content(String namespace, String path) {
            List<Optional<String>> versions = documents.get(namespace + '/' + path);
            return versions == null ? null : versions.getLast().orElse(null);
        }

        private synchronized void answer(HttpExchange exchange) throws IOException {
            requests.add(exchange.getRequestMethod() + ' ' + exchange.getRequestURI());
            List<String> segments = new ArrayList<>();
            for (String segment : exchange.getRequestURI().getRawPath().split("/", -1)) {
                segments.add(URLDecoder.decode(segment, StandardCharsets.UTF_8));
            }
            if (segments.size() == 3) {
                send(
                        exchange,
                        200,
                        Map.of(
                                "namespaces",
                                documents.keySet().stream()
                                        .map(key -> key.substring(0, key.indexOf('/')))
                                        .distinct()
                                        .map(namespace -> Map.of("namespace", namespace))
                                        .toList()));
            } else if (segments.size() == 4) {
                list(exchange, segments.get(3));
            } else {
                document(exchange, segments);
            }
        }

        private void list(HttpExchange exchange, String namespace) throws IOException {
            List<Map<String, Object>> listed = new ArrayList<>();
            documents.forEach((key, versions) -> {
                if (key.startsWith(namespace + '/') && versions.getLast().isPresent()) {
                    listed.add(version(key.substring(namespace.length() + 1), versions, versions.size()));
                }
            });
            send(exchange, 200, Map.of("documents", listed));
        }

        private void document(HttpExchange exchange, List<String> segments) throws IOException {
            int versionsAt = segments.indexOf("versions");
            int end = versionsAt < 0 ? segments.size() : versionsAt;
            String path = String.join("/", segments.subList(4, end));
            String key = segments.get(3) + '/' + path;
            List<Optional<String>> versions = documents.computeIfAbsent(key, name -> new ArrayList<>());
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            boolean there = !versions.isEmpty() && versions.getLast().isPresent();
            String method = exchange.getRequestMethod();
            if (method.equals("GET") && versionsAt >= 0) {
                List<Map<String, Object>> history = new ArrayList<>();
                for (int version = versions.size(); version > 0; version--) {
                    history.add(version(path, versions, version));
                }
                send(exchange, 200, Map.of("versions", history));
            } else if (!there && !method.equals("PUT") && !method.equals("POST")) {
                send(exchange, 404, Map.of("detail", "There is none."));
            } else if (method.equals("GET")
                    && !exchange.getRequestHeaders().getFirst("Accept").contains("text/markdown")) {
                send(exchange, 406, Map.of("detail", "It is markdown."));
            } else if (method.equals("GET")) {
                exchange.getResponseHeaders().add("ETag", tag(versions.size()));
                send(exchange, 200, versions.getLast().orElseThrow().getBytes(StandardCharsets.UTF_8));
            } else if (alwaysChanged
                    || !(there
                            ? tag(versions.size())
                                    .equals(exchange.getRequestHeaders().getFirst("If-Match"))
                            : "*".equals(exchange.getRequestHeaders().getFirst("If-None-Match")))) {
                send(exchange, 412, Map.of("detail", "It is another one by now."));
            } else {
                versions.add(
                        switch (method) {
                            case "PUT" -> Optional.of(body);
                            case "DELETE" -> Optional.empty();
                            default -> versions.get(Integer.parseInt(segments.get(versionsAt + 1)) - 1);
                        });
                send(exchange, 200, version(path, versions, versions.size()));
            }
        }

        private static Map<String, Object> version(String path, List<Optional<String>> versions, int version) {
            String content = versions.get(version - 1).orElse(null);
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("path", path);
            json.put("version", version);
            json.put("etag", tag(version));
            json.put("summary", "of " + path);
            json.put("size", content == null ? 0 : content.length());
            json.put("updatedAt", "2026-11-22T09:00:00Z");
            json.put("updatedBy", "person");
            json.put("deleted", content == null);
            return json;
        }

        private static String tag(int version) {
            return "\"" + version + "-abc\"";
        }

        private static void send(HttpExchange exchange, int status, Object json) throws IOException {
            send(exchange, status, Json.write(json));
        }

        private static void send(HttpExchange exchange, int status, byte[] bytes) throws IOException {
            exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(bytes);
            }
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }
}
