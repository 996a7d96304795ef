package dev.millrace.testing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A real browser without a window, told what to do over its DevTools protocol. Its profile is a folder of the test, and
 * it reaches nothing but this machine. Ends on {@link #close}.
 */
public final class Chromium implements AutoCloseable {

    private static final List<String> NAMES =
            List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration END_LIMIT = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final Process process;
    private final Session page;

    private Chromium(Process process, Session page) {
        this.process = process;
        this.page = page;
    }

    /**
     * The browser of this machine; if it has none, that is said in a line that begins with {@code SKIPPED}.
     *
     * @param test who asks, for that line
     */
    public static Optional<Path> find(String test) {
        Optional<Path> found = NAMES.stream()
                .flatMap(name -> Stream.of(System.getenv("PATH").split(":", -1)).map(place -> Path.of(place, name)))
                .filter(Files::isExecutable)
                .findFirst();
        if (found.isEmpty()) {
            System.err.println("SKIPPED: " + test + " needs Chromium on the PATH (Debian: apt-get install chromium)");
        }
        return found;
    }

    /**
     * Starts it with an empty page.
     *
     * @param program where {@link #find} found it
     * @param folder for its profile and its log
     * @param hosts names that are this machine
     */
    public static Chromium start(Path program, Path folder, String... hosts) {
        Path profile = folder.resolve("profile");
        List<String> rules = new ArrayList<>();
        for (String host : hosts) {
            rules.add("MAP " + host + " 127.0.0.1");
        }
        rules.addAll(List.of("MAP * ~NOTFOUND", "EXCLUDE localhost", "EXCLUDE 127.0.0.1"));
        try {
            Process process = new ProcessBuilder(
                            program.toString(),
                            "--headless",
                            "--no-sandbox",
                            "--disable-gpu",
                            "--disable-quic",
                            "--disable-dev-shm-usage",
                            "--no-first-run",
                            "--disable-background-networking",
                            "--disable-component-update",
                            "--disable-sync",
                            "--user-data-dir=" + profile,
                            "--remote-debugging-port=0",
                            "--host-resolver-rules=" + String.join(", ", rules),
                            "about:blank")
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("chromium.log").toFile())
                    .start();
            try {
                return new Chromium(process, Session.open(pageOf(process, profile.resolve("DevToolsActivePort"))));
            } catch (IOException | RuntimeException | Error e) {
                end(process);
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Goes to this address and waits until what is there has been loaded. */
    public void open(String url) {
        CompletableFuture<JsonNode> loaded = page.next("Page.loadEventFired");
        JsonNode gone = page.ask("Page.navigate", Map.of("url", url));
        if (gone.hasNonNull("errorText")) {
            throw new AssertionError("Expected a page at " + url + ", found " + gone);
        }
        Session.await(loaded, "the page at " + url);
    }

    /** What this JavaScript comes to in the open page, once a promise of it is kept: a value of JSON. */
    public JsonNode run(String script) {
        JsonNode answer =
                page.ask("Runtime.evaluate", Map.of("expression", script, "awaitPromise", true, "returnByValue", true));
        if (answer.has("exceptionDetails")) {
            throw new AssertionError("A script failed: " + answer.path("exceptionDetails"));
        }
        return answer.path("result").path("value");
    }

    /** Asks it to end, so that it clears up behind itself, and kills it if it does not. */
    @Override
    public void close() {
        try {
            page.ask("Browser.close", Map.of());
            if (!process.waitFor(END_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                System.err.println("Chromium did not end within " + END_LIMIT.toSeconds() + " s and is killed");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            page.close();
            end(process);
        }
    }

    /** With its helpers, which would otherwise write to their profile a moment longer. */
    private static void end(Process process) {
        List<ProcessHandle> helpers = process.descendants().toList();
        process.destroyForcibly();
        helpers.forEach(ProcessHandle::destroyForcibly);
        try {
            process.waitFor();
            for (ProcessHandle helper : helpers) {
                helper.onExit().get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError("Chromium did not end", e);
        }
    }

    /** Where its page is controlled. */
    private static URI pageOf(Process process, Path portFile) throws IOException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (System.nanoTime() < end && process.isAlive()) {
            if (Files.exists(portFile) && !Files.readString(portFile).isBlank()) {
                String port = Files.readAllLines(portFile).getFirst();
                for (JsonNode target :
                        Json.MAPPER.readTree(get(URI.create("http://127.0.0.1:" + port + "/json/list")))) {
                    if (target.path("type").asText().equals("page")) {
                        return URI.create(target.path("webSocketDebuggerUrl").asText());
                    }
                }
            }
            pause();
        }
        throw new AssertionError("Chromium has no page to control within " + LIMIT.toSeconds() + " s");
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    private static String get(URI url) throws IOException {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(HttpRequest.newBuilder(url).timeout(LIMIT).build(), BodyHandlers.ofString())
                    .body();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** Commands and their answers, and events that somebody waits for. */
    private static final class Session implements WebSocket.Listener {
        private final Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
        private final Map<String, CompletableFuture<JsonNode>> events = new ConcurrentHashMap<>();
        private final AtomicInteger asked = new AtomicInteger();
        private final StringBuilder message = new StringBuilder();
        private final HttpClient http = HttpClient.newHttpClient();
        private @Nullable WebSocket socket;

        static Session open(URI url) {
            Session session = new Session();
            session.socket = await(session.http.newWebSocketBuilder().buildAsync(url, session), "a connection");
            session.ask("Page.enable", Map.of());
            return session;
        }

        CompletableFuture<JsonNode> next(String event) {
            CompletableFuture<JsonNode> awaited = new CompletableFuture<>();
            events.put(event, awaited);
            return awaited;
        }

        JsonNode ask(String method, Map<String, ?> params) {
            int id = asked.incrementAndGet();
            CompletableFuture<JsonNode> answer = new CompletableFuture<>();
            answers.put(id, answer);
            WebSocket open = socket;
            if (open == null) {
                throw new IllegalStateException("not connected");
            }
            await(open.sendText(Json.writeText(Map.of("id", id, "method", method, "params", params)), true), method);
            JsonNode said = await(answer, method);
            if (said.has("error")) {
                throw new AssertionError(method + " failed: " + said.path("error"));
            }
            return said.path("result");
        }

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
            message.append(part);
            if (last) {
                take(message.toString());
                message.setLength(0);
            }
            from.request(1);
            return null;
        }

        private void take(String whole) {
            try {
                JsonNode said = Json.MAPPER.readTree(whole);
                CompletableFuture<JsonNode> awaited = said.has("id")
                        ? answers.remove(said.path("id").asInt())
                        : events.remove(said.path("method").asText());
                if (awaited != null) {
                    awaited.complete(said);
                }
            } catch (JsonProcessingException e) {
                throw new AssertionError(whole, e);
            }
        }

        static <T> T await(CompletableFuture<T> awaited, String what) {
            try {
                return awaited.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted", e);
            } catch (ExecutionException | TimeoutException e) {
                throw new AssertionError("Chromium: no " + what, e);
            }
        }

        void close() {
            http.shutdownNow();
        }
    }
}
