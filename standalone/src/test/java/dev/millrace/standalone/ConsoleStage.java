package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import dev.millrace.schemas.Json;
import dev.millrace.testing.Chromium;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.NpmPackages;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The console in a real browser, before a real standalone with a scripted model: what its tests share. One of each is
 * started for all classes. With {@code -Dmillrace.docs.write=true} they write the pictures of the documents.
 */
@ExtendWith(ConsoleStage.Once.class)
@SuppressWarnings("NullAway.Init") // what is static is set before the first test, the rest before each
abstract class ConsoleStage {

    static final Duration LIMIT = Duration.ofSeconds(60);
    static final int WIDE = 1280;
    static final int NARROW = 390;
    static final Path PICTURES = Path.of("../docs/pictures");

    static final String TALE = IntStream.rangeClosed(1, 60)
            .mapToObj(number -> "The wheel turned " + number + " times.")
            .collect(Collectors.joining(" "));
    static final String HOSTILE = "<img src=x onerror=alert(1)>\u202E<script>alert(2)</script>"
            + "[click](javascript:alert(3)) ![p](https://evil.example/p.png) </pre></main><style>*{display:none}</style>"
            + "gnp.exe `code` **bold** {{7*7}} ${8*8} \u200B";
    static final int GIANT = 1_000_000;

    /** Each begins with its number, by which it is found again. */
    static final List<String> TRAPS = numbered(
            "<script>window.pwned = 1</script>",
            "<img src=x onerror=\"window.pwned = 2\">",
            "<svg/onload=window.pwned=3>",
            "<iframe srcdoc='<script>parent.pwned = 4</script>'></iframe>",
            "\"><b onmouseover=window.pwned=5>bold</b>",
            "' autofocus onfocus=window.pwned=6 x='",
            "</textarea><script>window.pwned = 7</script>",
            "</title><style>* { display: none }</style>",
            "<a href=\"javascript:window.pwned=8\">here</a>",
            "[here](javascript:window.pwned=9)",
            "[here](data:text/html;base64,PHNjcmlwdD4=)",
            "![a picture](https://evil.example/p.png)",
            "[elsewhere](//evil.example/ \"title\")",
            "<https://evil.example/> https://evil.example/?q=1",
            "<form action=https://evil.example><button>Send</button></form>",
            "<base href=https://evil.example/><link rel=stylesheet href=//evil.example/x.css>",
            "<meta http-equiv=refresh content='0;url=https://evil.example'>",
            "<math><mi xlink:href=\"data:x\">x</mi></math>",
            "<template><script>window.pwned = 10</script></template>",
            "<!-- --><![CDATA[ <script>window.pwned = 11</script> ]]>",
            "\u202Etxt.exe\u202C and \u2066isolated\u2069",
            "zero\u200Bwidth\u200E\u200F joiners\u2060",
            "e\u0301\u0302\u0303\u0304\u0305\u0306 stacked",
            "\uD83D\uDC68\u200D\uD83D\uDC69\u200D\uD83D\uDC67 a family",
            "\u0627\u0644\u0639\u0631\u0628\u064A\u0629 123 right to left",
            "${7 * 7} {{7 * 7}} #{7 * 7} <%= 7 * 7 %>",
            "'; DROP TABLE tasks; -- \\u003cscript\\u003e &lt;b&gt; &amp;",
            "`code` **bold** ~~gone~~ | a | b |\n|---|---|\n| 1 | <img src=y> |",
            "%3Cscript%3E ../../etc/passwd \\\\server\\share",
            "=HYPERLINK(\"https://evil.example\") @SUM(1+1)");

    static final String THIRTY = String.join("\n\n", TRAPS);

    static final String SCRIPT = """
            rules:
              - user: 'slow tale'
                reasoning: "A long tale wants time."
                stream: { chunkChars: 12, chunkMs: 60 }
                text: "TALE"
              - user: 'write the note'
                steps:
                  - reasoning: "The person has to agree to this."
                    calls: [{ tool: write_file, arguments: { path: "note.txt", content: "oil the gate" } }]
                  - text: |
                      # Done

                      The note **is written**:

                      - to `note.txt`
                      - with [a link](https://example.org/)
              - user: 'which wheel'
                steps:
                  - calls: [{ tool: ask_user, arguments: { question: "Which wheel do you mean?" } }]
                  - text: "So it is {{result.ask_user}}."
              - user: 'delegate'
                system: 'You are the boss'
                steps:
                  - calls: [{ tool: spawn_task, arguments: { input: "write the note for me", type: careful } }]
                  - text: "My helper says: {{result}}"
              - user: 'ready for winter'
                system: 'You are the head'
                steps:
                  - reasoning: "First what there is, then the note, which the careful one writes."
                    calls: [{ tool: list_files, arguments: { path: "." } }]
                  - calls: [{ tool: spawn_task, arguments: { input: "write the note about the gate", type: careful } }]
                  - text: "The mill is ready for winter."
              - user: 'lead them astray'
                system: 'You are the head'
                steps:
                  - calls:
                      - { tool: spawn_task, arguments: { input: "refuse the gate", type: careful } }
                      - { tool: spawn_task, arguments: { input: "slow tale of the gate", type: careful, background: true } }
                  - text: "One could not, one is at it."
              - user: 'say it back'
                literal: true
                text: HOSTILE
              - user: 'giant'
                stream: { chunkChars: 100000 }
                text: "GIANT"
              - user: 'set the trap'
                literal: true
                steps:
                  - reasoning: THIRTY
                    calls: [{ tool: write_file, arguments: { path: "trap.txt", content: THIRTY } }]
                  - text: THIRTY
              - user: 'ask the trap'
                literal: true
                steps:
                  - calls: [{ tool: ask_user, arguments: { question: THIRTY } }]
                  - text: THIRTY
              - user: 'break the trap'
                fail: { code: auth_failed, message: THIRTY }
              - user: 'open the trap'
                literal: true
                steps:
                  - calls: [{ tool: read_file, arguments: { path: "bait.txt" } }]
                  - text: THIRTY
              - user: 'refuse'
                fail: { code: auth_failed, message: "the key is wrong" }
              - user: 'read'
                steps:
                  - calls: [{ tool: list_files, arguments: { path: "." } }, { tool: current_time, arguments: {} }]
                  - calls: [{ tool: read_file, arguments: { path: "nowhere.txt" } }]
                  - text: "There are two files, and none is called nowhere.txt."
              - text: "You said {{user}}"
            """;

    static final int PORT = FreePort.find();
    static final int KAFKA_PORT = FreePort.find();
    /** What services ask each other with; known here, so that a gateway can be run beside the others. */
    static final String SECRET = "d".repeat(64);

    static final String BASE = "http://localhost:" + PORT + "/console";
    static final HttpApi API = HttpApi.onPort(PORT);

    static Path temp;
    static ServiceProcess up;
    private static Playwright playwright;
    private static Browser browser;
    private static String axe;

    /** Where the page may ask. */
    final List<String> allowed = new CopyOnWriteArrayList<>(List.of("http://localhost:" + PORT + "/"));

    final List<String> complaints = new CopyOnWriteArrayList<>();
    BrowserContext context;
    Page page;

    /** Starts all of it before the first class that needs it, and ends it behind the last one. */
    static final class Once implements BeforeAllCallback {

        @Override
        public void beforeAll(ExtensionContext context) {
            AutoCloseable unused = context.getRoot()
                    .getStore(ExtensionContext.Namespace.GLOBAL)
                    .computeIfAbsent(
                            Once.class,
                            key -> {
                                try {
                                    start();
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                                return ConsoleStage::stop;
                            },
                            AutoCloseable.class);
        }
    }

    private static void start() throws IOException {
        Optional<Playwright> driver = playwright("ConsoleIT");
        Assumptions.assumeTrue(driver.isPresent(), "Chromium or Node is not installed");
        playwright = driver.orElseThrow();
        browser = browser(playwright);
        temp = Files.createTempDirectory("millrace-console");
        agent("careful", "tools: [write_file, list_files]\napproval:\n  write_file: always");
        agent("boss", "tools: [list_files, write_file]\nsubAgents: [careful]");
        agent("head", "tools: [list_files, write_file]\nmodel: dear\nsubAgents: [careful]");
        agent("dear", "tools: [write_file]\nmodel: dear\napproval:\n  write_file: always");
        // in a prompt two braces are a place that is filled
        Files.writeString(
                Files.createDirectories(temp.resolve("agents/trap")).resolve("AGENT.md"),
                "---\nname: trap\ndescription: " + Json.writeText(TRAPS.get(1)) + "\ntools: [list_files]\n---\n"
                        + THIRTY.replace("{{", "{ {"));
        Files.createDirectories(temp.resolve("workspace"));
        Files.writeString(temp.resolve("workspace/bait.txt"), THIRTY);
        Files.writeString(
                temp.resolve("script.yaml"),
                SCRIPT.replace("TALE", TALE)
                        .replace("HOSTILE", Json.writeText(HOSTILE))
                        .replace("THIRTY", Json.writeText(THIRTY))
                        .replace("GIANT", "W".repeat(GIANT)));
        up = up();
        try (InputStream in = ConsoleIT.class.getResourceAsStream("/axe.min.js")) {
            assertThat(in).isNotNull();
            axe = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** What drives a browser; empty if it or a browser is missing, which is said. */
    static Optional<Playwright> playwright(String test) {
        boolean node = NpmPackages.runs("node", "--version");
        if (!node) {
            System.err.println("SKIPPED: " + test + " needs Node 20 or newer on the PATH");
        }
        if (Chromium.find(test).isEmpty() || !node) {
            return Optional.empty();
        }
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.put("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        environment.put("PLAYWRIGHT_NODEJS_PATH", nodePath());
        return Optional.of(Playwright.create(new Playwright.CreateOptions().setEnv(environment)));
    }

    /** The browser of this machine. */
    static Browser browser(Playwright playwright) {
        return playwright
                .chromium()
                .launch(new BrowserType.LaunchOptions()
                        .setExecutablePath(Chromium.find("ConsoleIT").orElseThrow())
                        .setArgs(List.of("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")));
    }

    private static String nodePath() {
        return Arrays.stream(System.getenv("PATH").split(":", -1))
                .map(folder -> Path.of(folder, "node"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow()
                .toString();
    }

    private static void agent(String name, String keys) throws IOException {
        Path folder = Files.createDirectories(temp.resolve("agents").resolve(name));
        Files.writeString(
                folder.resolve("AGENT.md"),
                "---\nname: " + name + "\ndescription: The " + name + " one.\n" + keys + "\n---\nYou are the " + name
                        + ".\n");
    }

    static ServiceProcess up() {
        return ServiceProcess.standalone(
                        "up",
                        "--port",
                        Integer.toString(PORT),
                        "--kafka-port",
                        Integer.toString(KAFKA_PORT),
                        "--script",
                        temp.resolve("script.yaml").toString())
                .env("MILLRACE_HTTP_INTERNAL_SECRET", SECRET)
                .jvm("-Dmillrace.llm.models.dear.provider=scripted")
                .jvm("-Dmillrace.llm.models.dear.script=" + temp.resolve("script.yaml"))
                .jvm("-Dmillrace.llm.models.dear.price.input=300")
                .jvm("-Dmillrace.llm.models.dear.price.output=1500")
                .start(temp)
                .awaitOutput("Millrace is ready", ServiceProcess.START_LIMIT);
    }

    /** A gateway alone, beside that of {@link #up()}. */
    static ServiceProcess gateway(int port) {
        return ServiceProcess.service("gateway-service")
                .env("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:" + KAFKA_PORT)
                .env("MILLRACE_GATEWAY_AGENT_URL", "http://127.0.0.1:" + PORT)
                .env("MILLRACE_HTTP_INTERNAL_SECRET", SECRET)
                .env("MILLRACE_TOPICS_PARTITIONS", "2")
                .env("QUARKUS_HTTP_PORT", Integer.toString(port))
                .start(temp)
                .awaitReady();
    }

    private static void stop() throws IOException {
        browser.close();
        playwright.close();
        up.close();
        try (Stream<Path> files = Files.walk(temp)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> {
                boolean unused = file.toFile().delete();
            });
        }
    }

    private static List<String> numbered(String... texts) {
        return IntStream.range(0, texts.length)
                .mapToObj(number -> "n%02d %s".formatted(number + 1, texts[number]))
                .toList();
    }

    @BeforeEach
    void open() {
        context = browser.newContext(
                new Browser.NewContextOptions().setViewportSize(WIDE, 800).setReducedMotion(ReducedMotion.REDUCE));
        page = context.newPage();
        page.setDefaultTimeout((double) LIMIT.toMillis());
        PlaywrightAssertions.setDefaultAssertionTimeout((double) LIMIT.toMillis());
        page.onPageError(complaints::add);
        page.onDialog(dialog -> {
            complaints.add("a dialog: " + dialog.message());
            dialog.dismiss();
        });
        page.onConsoleMessage(message -> {
            // what a server refused, or that it is gone, is said by the browser itself
            if (message.type().equals("error") && !message.text().startsWith("Failed to load resource")) {
                complaints.add(message.text());
            }
        });
        page.onRequest(request -> {
            if (allowed.stream().noneMatch(request.url()::startsWith)) {
                complaints.add("a request to " + request.url());
            }
        });
    }

    @AfterEach
    void shouldHaveComplainedOfNothing() {
        context.close();
        assertThat(complaints)
                .as("violations of the policy, errors, and requests to elsewhere")
                .isEmpty();
    }

    Locator button(String name) {
        return page.getByRole(
                AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
    }

    static int put(String path, String condition, String tag, String text) {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                            HttpRequest.newBuilder(URI.create("http://localhost:" + PORT + path))
                                    .header("Content-Type", "text/markdown")
                                    .header(condition, tag)
                                    .PUT(BodyPublishers.ofString(text))
                                    .build(),
                            BodyHandlers.discarding())
                    .statusCode();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** Ends what another test has left behind. */
    static void leaveNobodyWaiting() {
        API.get("/v1/tasks?state=suspended&limit=200").json().path("tasks").forEach(task -> {
            String taskId = task.path("taskId").asText();
            API.post("/v1/tasks/" + taskId + "/cancel", Map.of());
            API.awaitEnd(taskId, LIMIT);
        });
    }

    void heading(String text) {
        PlaywrightAssertions.assertThat(page.locator("h1")).hasText(text);
    }

    /** Moves the focus with the key for that alone. */
    void tabTo(String selector) {
        for (int presses = 0; presses < 60; presses++) {
            page.keyboard().press("Tab");
            if (Boolean.TRUE.equals(page.evaluate("selector => document.activeElement.matches(selector)", selector))) {
                return;
            }
        }
        throw new AssertionError("No " + selector + " was reached with the key Tab");
    }

    static String submitTo(String agent, String text) {
        return accepted(Map.of("text", text, "agent", agent));
    }

    static String submitTo(String agent, String text, String session) {
        return accepted(Map.of("text", text, "agent", agent, "sessionId", session));
    }

    static String accepted(Map<String, String> task) {
        HttpApi.Answer accepted = API.post("/v1/tasks", task);
        assertThat(accepted.status()).as(accepted.body()).isEqualTo(202);
        return accepted.json().path("taskId").asText();
    }

    static String waitsFor(String taskId) {
        return API.get("/v1/tasks/" + taskId).json().at("/waitingFor/kind").asText();
    }

    /** No violation in light or dark. */
    void assertAccessible(String what) {
        for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
            page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(scheme));
            page.evaluate(axe);
            Object found = page.evaluate("""
                    async () => (await axe.run(document)).violations.map(one =>
                      one.id + ': ' + one.nodes.map(node => node.html.slice(0, 200) + ' ' + node.failureSummary).join(' | '))""");
            assertThat(found).as(what + " in " + scheme).isEqualTo(List.of());
        }
        page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(ColorScheme.LIGHT));
    }

    /** Nothing stands out to the right, neither on a desk nor on a telephone. */
    void assertFits(String what) {
        for (int width : List.of(NARROW, WIDE)) {
            page.setViewportSize(width, 800);
            assertThat(((Number) page.evaluate("document.documentElement.scrollWidth")).intValue())
                    .as(what + " at a width of " + width)
                    .isLessThanOrEqualTo(width);
        }
    }

    /** Writes the pictures of the documents, if that is asked for. */
    void picture(String name) {
        picture(name, List.of(WIDE, NARROW));
    }

    /** The same at these widths. */
    void picture(String name, List<Integer> widths) {
        if (!Boolean.getBoolean("millrace.docs.write")) {
            return;
        }
        for (int width : widths) {
            page.setViewportSize(width, width == WIDE ? 800 : 844);
            page.evaluate("scrollTo(0, 0)");
            for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
                page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(scheme));
                page.screenshot(new Page.ScreenshotOptions()
                        .setFullPage(width == NARROW)
                        .setPath(PICTURES.resolve("console-" + name + '-'
                                + scheme.name().toLowerCase(Locale.ROOT) + (width == WIDE ? "" : "-narrow") + ".png")));
            }
        }
        page.setViewportSize(WIDE, 800);
        page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(ColorScheme.LIGHT));
    }
}
