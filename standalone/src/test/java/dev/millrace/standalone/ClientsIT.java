package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.api.DeadLetterView;
import dev.millrace.api.QueueItem;
import dev.millrace.api.ScheduleView;
import dev.millrace.api.Task;
import dev.millrace.api.TaskBulk;
import dev.millrace.client.FeedEvent;
import dev.millrace.client.GatewayHttp;
import dev.millrace.client.Millrace;
import dev.millrace.client.NamespaceMemory;
import dev.millrace.client.OutsideEvent;
import dev.millrace.client.RequestRefusedException;
import dev.millrace.client.Route;
import dev.millrace.client.SessionHandle;
import dev.millrace.client.TaskCancelledException;
import dev.millrace.client.TaskFailedException;
import dev.millrace.client.TaskFeed;
import dev.millrace.client.TaskHandle;
import dev.millrace.client.TaskNotDoneException;
import dev.millrace.client.TaskSearch;
import dev.millrace.client.TaskStart;
import dev.millrace.client.Watch;
import dev.millrace.schemas.Json;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.NpmPackages;
import dev.millrace.testing.OpenApiCheck;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Both clients against one Millrace that runs, and against its OpenAPI document. */
class ClientsIT {

    private static final Path CLONE = ServiceProcess.repository();
    private static final Path TYPESCRIPT = CLONE.resolve("clients/typescript");
    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final int LONGEST_SECONDS = 120;
    /** Where a web page of somebody else is. */
    private static final URI PAGE = URI.create("http://127.0.0.1:" + FreePort.find());

    private static final String SCRIPT = """
        rules:
          - user: 'stream'
            text: "One word after the other, until all of them are said."
            latencyMs: 1000
          - user: 'slow'
            text: "slow and done"
            latencyMs: 600000
          - user: 'break'
            fail: { code: auth_failed, message: "broken on purpose" }
          - user: '(?i)write'
            steps:
              - calls: [{ tool: write_file, arguments: { path: "todo.txt", content: "oil the gate" } }]
              - text: "written"
          - user: 'Which files'
            steps:
              - calls: [{ tool: list_files, arguments: { path: "." } }]
                latencyMs: 1000
              - text: "There are files"
                latencyMs: 500
          - user: 'ask'
            steps:
              - calls: [{ tool: ask_user, arguments: { question: "Which colour?" } }]
              - text: "You like {{result.ask_user}}"
          - user: '\\[planner\\]: One bed'
            text: "Good. I have nothing to add."
          - user: 'make a plan'
            text: "One bed of beans. @critic, what do you think?"
          - user: 'argue'
            text: "No."
          - text: "You said {{user}}"
        """;

    private static final String CAREFUL = """
        ---
        name: careful
        description: Asks before it writes a file.
        tools: [list_files, write_file]
        approval:
          write_file: always
        ---
        You are a careful agent.
        """;

    @TempDir
    static Path temp;

    private static @Nullable ServiceProcess up;
    private static Millrace millrace;
    private static String url;

    @BeforeAll
    static void start() throws IOException {
        int port = FreePort.find();
        Files.createDirectories(temp.resolve("agents/careful"));
        Files.writeString(temp.resolve("agents/careful/AGENT.md"), CAREFUL);
        for (String name : List.of("planner", "critic")) {
            Files.createDirectories(temp.resolve("agents/" + name));
            Files.writeString(
                    temp.resolve("agents/" + name + "/AGENT.md"),
                    "---\nname: " + name + "\ndescription: Speaks.\ntools: []\n---\nYou are a " + name + ".\n");
        }
        Path script = Files.writeString(temp.resolve("script.yaml"), SCRIPT);
        up = ServiceProcess.standalone(
                        "up", "--port", Integer.toString(port), "--kafka-port", "0", "--script", script.toString())
                .env("QUARKUS_HTTP_CORS_ENABLED", "true")
                .env("QUARKUS_HTTP_CORS_ORIGINS", PAGE.toString())
                .start(temp)
                .awaitOutput("Millrace is ready", ServiceProcess.START_LIMIT);
        url = "http://localhost:" + port;
        millrace = Millrace.connect(url);
    }

    @AfterAll
    static void stop() {
        if (up != null) {
            up.close();
        }
    }

    @Test
    @DisplayName("Java: a start is made once, its text can be watched, and watching goes on from a cursor")
    void shouldStreamInJava() throws InterruptedException {
        // given
        TaskHandle task = millrace.start("stream me", start -> start.id("java-1"));
        assertThat(millrace.start("stream me", start -> start.id("java-1")).id())
                .isEqualTo(task.id());

        // when
        StringBuilder said = new StringBuilder();
        List<String> cursors = new ArrayList<>();
        try (TaskFeed feed = task.events(Watch.all().withText())) {
            for (FeedEvent event : feed) {
                cursors.add(event.cursor());
                if (event instanceof FeedEvent.Text text) {
                    said.append(text.delta());
                }
            }
        }

        // then
        assertThat(said).hasToString(task.await(LIMIT).text());
        assertThat(task.log().filter(entry -> entry.type().equals("MESSAGE_RECEIVED")))
                .hasSize(1);
        List<FeedEvent> rest = new ArrayList<>();
        try (TaskFeed feed = millrace.task("java-1").events(Watch.after(cursors.get(cursors.size() - 2)))) {
            feed.forEach(rest::add);
        }
        assertThat(rest).singleElement().isInstanceOf(FeedEvent.Completed.class);
    }

    @Test
    @DisplayName("Java: what a task asks is answered where it is read, by one who was not there when it began")
    void shouldDecideInJava() throws InterruptedException {
        TaskHandle careful = millrace.agent("careful").session("chat").start("write it");
        try (TaskFeed feed = millrace.task(careful.id()).events()) {
            for (FeedEvent event : feed) {
                if (event instanceof FeedEvent.ApprovalRequested approval) {
                    assertThat(millrace.approvals().open(careful)).hasSize(1);
                    Map<String, Object> params = new HashMap<>(Map.of("path", "done.txt", "content", "changed"));
                    approval.approve("ada", params);
                }
            }
        }
        assertThat(careful.await(LIMIT).text()).isEqualTo("written");
        assertThat(temp.resolve("workspace/done.txt")).hasContent("changed");

        TaskHandle asked = millrace.session("chat").start("ask me");
        try (TaskFeed feed = asked.events()) {
            for (FeedEvent event : feed) {
                if (event instanceof FeedEvent.Question question) {
                    question.answer("blue");
                }
            }
        }
        assertThat(asked.await(LIMIT).text()).isEqualTo("You like blue");
    }

    @Test
    void shouldSteerInJava() {
        TaskHandle slow = millrace.start("slow");
        assertThatThrownBy(() -> slow.await(Duration.ofMillis(200))).isInstanceOf(TaskNotDoneException.class);
        millrace.task(slow.id()).cancel("enough");
        assertThatThrownBy(() -> slow.await(LIMIT)).isInstanceOf(TaskCancelledException.class);
        assertThatThrownBy(() -> millrace.start("break").await(LIMIT)).isInstanceOf(TaskFailedException.class);
        assertThatThrownBy(() -> millrace.task("no-such-task").get())
                .isInstanceOfSatisfying(
                        RequestRefusedException.class,
                        refused -> assertThat(refused.code()).isEqualTo("unknown_task"));
        assertThat(millrace.tasks(TaskSearch.inState("cancelled")).map(Task::taskId))
                .contains(slow.id());
        assertThat(millrace.bulk(new TaskBulk.Request("cancel", List.of(slow.id()), null, null, null, null, null))
                        .items())
                .extracting(TaskBulk.Item::code)
                .containsExactly("task_ended");
    }

    @Test
    void shouldReachAllElseInJava() throws InterruptedException {
        NamespaceMemory memory =
                Millrace.connect(url, options -> options.namespace("java")).memory();
        memory.create("facts/a b.md", "# A\n", "ada");
        GatewayHttp.Text found = memory.find("facts/a b.md").orElseThrow();
        assertThat(found.text()).isEqualTo("# A\n");
        assertThatThrownBy(() -> memory.create("facts/a b.md", "x", null))
                .isInstanceOfSatisfying(
                        RequestRefusedException.class,
                        refused -> assertThat(refused.status()).isEqualTo(412));
        memory.replace("facts/a b.md", "# B\n", found.etag(), null);
        assertThat(memory.read("facts/a b.md", 1)).isEqualTo("# A\n");
        assertThat(memory.find("facts/none.md")).isEmpty();

        millrace.schedules().put("hourly", schedule());
        assertThat(millrace.schedules().get("hourly").next()).isNotEmpty();
        millrace.schedules().delete("hourly");

        String id = millrace.events()
                .publish(OutsideEvent.of("MESSAGE_RECEIVED", "https://x.example", Map.of("text", "stream me")))
                .get(0);
        millrace.task(id).await(LIMIT);
        assertThat(millrace.events().chain(id)).hasSize(1);

        SessionHandle session = millrace.newSession("talk");
        session.prompt("stream me");
        assertThat(session.get().title()).isEqualTo("talk");
        assertThat(millrace.agents()).anyMatch(agent -> agent.name().equals("careful"));
        assertThat(millrace.agent("careful").get().tools()).contains("write_file");
        assertThat(millrace.tools()).isNotEmpty();
        // counted a moment after it has ended
        await().atMost(LIMIT).until(() -> millrace.usage().calls() > 0);
        assertThat(millrace.deadLetters().all())
                .allMatch(letter -> !letter.cursor().isEmpty());
        assertThat(millrace.rules().all()).isNotNull();
    }

    @Test
    @DisplayName("F-286: Java: an event is put into a queue, seen through its end, and tried again when it has failed")
    void shouldQueueInJava() throws InterruptedException {
        // given
        QueueItem.Queued put = millrace.queue()
                .put(
                        "queue-java",
                        new QueueItem.Request(
                                "java-q", "MESSAGE_RECEIVED", Map.of("text", "break"), 850, 300_000L, null, null));
        assertThatThrownBy(() -> millrace.task(put.id()).await(LIMIT)).isInstanceOf(TaskFailedException.class);
        QueueItem failed = millrace.queue().get(put.id());
        assertThat(failed.status()).isEqualTo("failed");
        assertThat(failed.priority()).isEqualTo(850);
        assertThat(failed.ttl()).isEqualTo(300_000);

        // when
        QueueItem.Queued again = millrace.queue().retry(put.id(), Map.of("text", "stream me"));
        millrace.task(again.id()).await(LIMIT);

        // then
        assertThat(again.retryOf()).isEqualTo(put.id());
        assertThat(millrace.queue().ofSession("queue-java").map(QueueItem::id)).containsExactly(again.id(), put.id());
        assertThat(millrace.queue().withStatus("failed").map(QueueItem::id)).contains(put.id());
        assertThat(millrace.queue().all().map(QueueItem::id)).contains(again.id());
        assertThat(millrace.queue().waiting("queue-java")).isEmpty();
        assertThatThrownBy(() -> millrace.queue().retry(again.id()))
                .isInstanceOfSatisfying(
                        RequestRefusedException.class,
                        refused -> assertThat(refused.code()).isEqualTo("not_failed"));
    }

    @Test
    @DisplayName("F-287: behind the APIs of OpenAI, too, what nobody has begun in time is not worked on: X-Ttl")
    void shouldNotAnswerWhatIsTooLate() {
        HttpApi api = new HttpApi(URI.create(url));
        Map<String, Object> chat =
                Map.of("model", "general", "messages", List.of(Map.of("role", "user", "content", "stream me")));
        Map<String, Object> response = Map.of("model", "general", "input", "stream me");
        Map<String, Map<String, Object>> bodies = Map.of("/v1/chat/completions", chat, "/v1/responses", response);

        bodies.forEach((route, body) -> {
            Map<String, String> json = Map.of("content-type", "application/json");
            HttpApi.Answer late = api.post(route, with(json, "X-Ttl", "1"), Json.write(body));
            HttpApi.Answer inTime = api.post(route, with(json, "X-Ttl", "600000"), Json.write(body));
            HttpApi.Answer wrong = api.post(route, with(json, "X-Ttl", "soon"), Json.write(body));
            assertThat(late.body()).as(route).contains("expired").doesNotContain("You said");
            assertThat(inTime.status()).as(inTime.body()).isEqualTo(200);
            assertThat(wrong.status()).as(wrong.body()).isEqualTo(400);
            assertThat(wrong.body()).contains("expected a whole number of milliseconds, 1 or more");
        });
    }

    private static Map<String, String> with(Map<String, String> headers, String name, String value) {
        Map<String, String> more = new HashMap<>(headers);
        more.put(name, value);
        return more;
    }

    @Test
    @DisplayName("every path, parameter and field that the client for Java sends is in the OpenAPI document")
    void shouldKeepToTheDocumentInJava() throws Exception {
        try (ContractGateway gateway = new ContractGateway(document())) {
            Millrace client = Millrace.connect(gateway.url(), options -> options.patience(Duration.ofMillis(1)));
            List<Object> parts = List.of(
                    client,
                    client.task("t"),
                    client.agent("a"),
                    client.session("s"),
                    client.approvals(),
                    client.memory(),
                    client.rules(),
                    client.schedules(),
                    client.deadLetters(),
                    client.queue(),
                    client.events());
            for (Object part : parts) {
                for (Method method : part.getClass().getDeclaredMethods()) {
                    if (Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())) {
                        call(part, method, client);
                    }
                }
            }

            assertThat(gateway.problems()).isEmpty();
            assertThat(gateway.routes()).hasSizeGreaterThan(40);
        }
    }

    /** What is answered is of no use, and so are most failures; that something was asked is what counts. */
    private static void call(Object part, Method method, Millrace client) throws IllegalAccessException {
        Object[] args = Stream.of(method.getParameterTypes())
                .map(type -> argument(type, client))
                .toArray();
        try {
            Object answer = method.invoke(part, args);
            if (answer instanceof TaskFeed feed) {
                Optional<FeedEvent> unused = feed.next(Duration.ofSeconds(5));
                feed.close();
            } else if (answer instanceof Stream<?> stream) {
                Object unused = stream.findFirst();
            }
        } catch (InvocationTargetException | RuntimeException | InterruptedException e) {
            // see above
        }
    }

    private static Object argument(Class<?> type, Millrace client) {
        if (type == Consumer.class) {
            Consumer<Object> everything = ClientsIT::sayAll;
            return everything;
        }
        Map<Class<?>, Object> some = Map.ofEntries(
                Map.entry(String.class, "x"),
                Map.entry(int.class, 1),
                Map.entry(long.class, 1L),
                Map.entry(Duration.class, Duration.ofSeconds(5)),
                Map.entry(Map.class, Map.of("on", "order.placed", "log", true)),
                Map.entry(Watch.class, Watch.after("1:1").withText().only("TASK_FAILED")),
                Map.entry(TaskSearch.class, new TaskSearch("failed", "s", "a", "answer", "t")),
                Map.entry(TaskHandle.class, client.task("t")),
                Map.entry(
                        TaskBulk.Request.class,
                        new TaskBulk.Request("cancel", List.of("t"), null, "x", true, null, null)),
                Map.entry(
                        DeadLetterView.Filter.class,
                        new DeadLetterView.Filter("internal_error", null, null, null, null)),
                Map.entry(
                        QueueItem.Request.class,
                        new QueueItem.Request("i", "MESSAGE_RECEIVED", Map.of("text", "x"), 900, 1_000L, "p", null)),
                Map.entry(Route.class, new Route("/v1/notifications")),
                Map.entry(ScheduleView.Definition.class, schedule()),
                Map.entry(OutsideEvent[].class, new OutsideEvent[] {OutsideEvent.of("t", "s", Map.of())}),
                Map.entry(
                        Task.Request.class,
                        new Task.Request("x", null, "a", null, null, null, null, null, null, null, null, "i")));
        return Optional.ofNullable(some.get(type)).orElseThrow(() -> new AssertionError("no argument of " + type));
    }

    private static void sayAll(Object start) {
        ((TaskStart) start)
                .id("i")
                .agent("a")
                .session("s")
                .metadata(Map.of("k", "v"))
                .priority(200)
                .model("m")
                .callbackUrl("https://x.example")
                .ttl(Duration.ofSeconds(1));
    }

    private static ScheduleView.Definition schedule() {
        return new ScheduleView.Definition(
                "@hourly", null, "UTC", "one", 5, "allow", "s", 200, 60_000L, "tidy up", null, null, null, null, null,
                false);
    }

    private static OpenApiCheck document() {
        return new OpenApiCheck(
                new HttpApi(URI.create(url)).get("/openapi?format=json").body());
    }

    @Test
    @DisplayName(
            "the README of the client for Java is true, for a Maven project of somebody else, and so is the page on"
                    + " testing")
    void shouldAnswerAMavenProject() throws Exception {
        Path folder = Files.createTempDirectory(temp, "maven");
        Map<String, String> environment = Packages.maven("ClientsIT", folder, Packages.oldestJdk());
        Packages.pack("ClientsIT", folder);

        assertThat(Packages.follow("ClientsIT", "client/README.md", folder.resolve("ask"), environment, url))
                .contains("There are files");

        assertThat(Files.readString(CLONE.resolve("docs/testing.md"))).contains(CAREFUL);
        Path careful = folder.resolve("careful");
        Map<String, String> newer = Packages.maven("ClientsIT", folder, Path.of(System.getProperty("java.home")));
        Packages.follow("ClientsIT", "docs/testing.md", careful, newer, url);
        for (String test : List.of("CarefulTest", "CarefulOnBrokerTest")) {
            assertThat(Files.readString(careful.resolve("target/surefire-reports/TEST-" + test + ".xml")))
                    .contains("tests=\"1\"", "errors=\"0\"", "skipped=\"0\"", "failures=\"0\"");
        }
    }

    @Test
    @DisplayName("the README of the client for TypeScript is true, for an npm project of somebody else")
    void shouldAnswerAnNpmProject() throws Exception {
        requireNpm();
        Path folder = Files.createTempDirectory(temp, "node");
        Packages.pack("ClientsIT", folder);
        Map<String, String> environment = Map.of("npm_config_offline", "true", "npm_config_audit", "false");

        assertThat(Packages.follow(
                        "ClientsIT", "clients/typescript/README.md", folder.resolve("ask"), environment, url))
                .contains("There are files\n", "pass 1\n", "fail 0\n");
    }

    @Test
    @DisplayName("F-276, F-286, F-287, F-292, F-298: TypeScript: packed, installed and used by a project of its"
            + " own, with the types that it promises")
    void shouldWorkInTypeScript() throws Exception {
        Path project = project();
        try (ContractGateway gateway = new ContractGateway(document())) {
            assertThat(node(project, gateway.url(), "contract.mjs")).contains("called ");
            assertThat(gateway.problems()).isEmpty();
            assertThat(gateway.routes()).hasSizeGreaterThan(40);
        }
        assertThat(node(project, url, "flow.mjs").lines())
                .containsExactly("streamed", "decided", "steered", "run", "all");
    }

    @Test
    @DisplayName("TypeScript: a page of another origin that is let in does in Chromium all that Node does")
    void shouldWorkInABrowser() throws Exception {
        List<String> said = new ArrayList<>();
        HttpServer pages =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), PAGE.getPort()), 0);
        pages.createContext("/", ClientsIT::serve);
        pages.start();
        try (Playwright playwright = ConsoleStage.playwright("ClientsIT").orElse(null)) {
            Assumptions.assumeTrue(playwright != null, "no browser");
            try (Browser browser = ConsoleStage.browser(playwright)) {
                Page page = browser.newPage();
                page.onConsoleMessage(message -> said.add(message.text()));
                page.onPageError(failure -> said.add("failed: " + failure));
                page.navigate(PAGE + "/?namespace=browser&baseUrl=" + url);
                page.waitForCondition(
                        () -> said.contains("all") || said.stream().anyMatch(line -> line.startsWith("failed: ")),
                        new Page.WaitForConditionOptions().setTimeout(LONGEST_SECONDS * 1000));
            }
        } finally {
            pages.stop(0);
        }
        // a browser notes what was refused, as it is meant to be here
        assertThat(said)
                .filteredOn(line -> !line.startsWith("Failed to load resource"))
                .containsExactly("streamed", "decided", "steered", "run", "all");
    }

    private static void serve(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        Path programs = CLONE.resolve("standalone/src/test/resources/clients");
        boolean isPage = path.equals("/");
        String text = isPage
                ? """
                    <!doctype html>
                    <link rel="icon" href="data:,">
                    <script type="importmap">{"imports": {
                      "@millrace/client": "/client/index.js", "node:assert/strict": "/assert.js"}}</script>
                    <script type="module" src="/flow.mjs"></script>
                    """
                : Files.readString(
                        path.startsWith("/client/")
                                ? TYPESCRIPT.resolve(path.substring("/client/".length()))
                                : programs.resolve(path.substring(1)));
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", isPage ? "text/html" : "text/javascript");
        exchange.sendResponseHeaders(200, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    @Test
    @DisplayName("the types of the client for TypeScript are those of the OpenAPI document, and of what it exports")
    void shouldPromiseTypesThatThereAre() throws Exception {
        // fields: each interface that the document has a schema for
        OpenApiCheck document = document();
        String types = Files.readString(TYPESCRIPT.resolve("index.d.ts"));
        String answers = types.substring(types.indexOf("// What the gateway answers"));
        Map<String, Set<String>> unknown = new HashMap<>();
        for (MatchResult type : Pattern.compile("export interface (\\w+) \\{(.*?)\n}", Pattern.DOTALL)
                .matcher(answers)
                .results()
                .toList()) {
            Set<String> known = document.properties(type.group(1));
            Set<String> said = Pattern.compile("\n  (\\w+)\\??:")
                    .matcher(type.group(2))
                    .results()
                    .map(field -> field.group(1))
                    .collect(Collectors.toCollection(TreeSet::new));
            said.removeAll(known);
            if (!said.isEmpty()) {
                unknown.put(type.group(1), said);
            }
        }
        assertThat(unknown).isEmpty();

        // and a program that uses them compiles
        Optional<Path> compiler = NpmPackages.install("ClientsIT", "typescript@5.9.3");
        Assumptions.assumeTrue(compiler.isPresent(), "the compiler cannot be had");
        Path project = project();
        Files.copy(CLONE.resolve("standalone/src/test/resources/clients/types.ts"), project.resolve("types.ts"));
        assertThat(run(
                        project,
                        Map.of(),
                        "node",
                        compiler.orElseThrow()
                                .resolve("node_modules/typescript/bin/tsc")
                                .toString(),
                        "--noEmit",
                        "--strict",
                        "--target",
                        "es2022",
                        "--lib",
                        "es2022,dom,dom.iterable",
                        "--module",
                        "nodenext",
                        "--exactOptionalPropertyTypes",
                        "types.ts"))
                .isEmpty();
    }

    @Test
    @DisplayName("F-272, F-273, F-274, F-275, F-276, F-298: the programs that listen run as their README says")
    void shouldRunTheExamples() throws Exception {
        Path project = project();
        for (String example : List.of("streaming.js", "approval-gate.js", "async-iterator.js", "multi-agent.js")) {
            Files.copy(CLONE.resolve("examples/listening").resolve(example), project.resolve(example));
        }

        assertThat(run(project, Map.of("MILLRACE_URL", url), "node", "streaming.js"))
                .isEqualTo("[list_files {\"path\":\".\"}]\nThere are files\ncompleted\n");
        assertThat(run(project, Map.of("MILLRACE_URL", url), "node", "approval-gate.js"))
                .isEqualTo("approved: write_file todo.txt\nwritten\n");
        assertThat(run(project, Map.of("MILLRACE_URL", url), "node", "async-iterator.js"))
                .isEqualTo("""
                    user: Which files are in the workspace?
                    general: There are files
                    same thread: true, completed
                    """);
        assertThat(run(project, Map.of("MILLRACE_URL", url), "node", "multi-agent.js"))
                .isEqualTo("""
                    Ann: @planner, make a plan for the garden.
                    planner: One bed of beans. @critic, what do you think?
                    critic: Good. I have nothing to add.
                    completed
                    """);
    }

    @Test
    @DisplayName("F-273, F-274, F-298, F-299, F-300: a run of several agents is done when nobody has the word:"
            + " nobody was mentioned, the next message of the thread, skipRouting, two that argue until the depth")
    void shouldRunThreads() throws Exception {
        // given
        Path project = project();
        Files.writeString(project.resolve("threads.mjs"), """
                import { Millrace } from '@millrace/client'
                const millrace = new Millrace({ baseUrl: process.env.MILLRACE_URL })
                const show = async (message, options) => {
                  const run = await millrace.run(message, undefined, options)
                  const said = []
                  let ended
                  for await (const event of run.events) {
                    if (event.type === 'NEW_MESSAGE') said.push(event.payload.sender.name)
                    if (event.type === 'session.turn') ended = event.payload.ended
                  }
                  console.log((await run.done).status, said.join(' '), ended ?? '')
                  return run.threadId
                }
                const agents = ['planner', 'critic']
                const threadId = await show('hello all', { agents })
                await show({ content: '@critic hello', threadId, sender: { name: 'Bo' } })
                await show({ content: '@critic hello', threadId, metadata: { skipRouting: true } })
                const pair = await millrace.newSession('two', { participants: agents })
                await show({ content: 'argue', threadId: pair.id })
                console.log((await pair.get()).participants.join(' '), (await millrace.session(threadId).get()).participants.join(' '))
                // what is refused leaves no stream behind: else this would not end
                await millrace.run('hello', undefined, { agents, ttl: 'soon' }).catch(() => console.log('refused'))
                """);

        // when
        String out = run(project, Map.of("MILLRACE_URL", url), "node", "threads.mjs");

        // then: eight turns may follow on the first
        assertThat(out).isEqualTo("""
                    completed user\s
                    completed Bo critic\s
                    completed user\s
                    completed user planner critic planner critic planner critic planner critic planner causal_depth_limit
                    planner critic user planner critic
                    refused
                    """);
    }

    /** A project of somebody else that has the packed client. */
    private static Path project() throws Exception {
        requireNpm();
        Path project = Files.createTempDirectory(temp, "npm");
        Files.writeString(project.resolve("package.json"), "{\"type\": \"module\", \"private\": true}");
        run(project, Map.of(), "npm", "pack", TYPESCRIPT.toString());
        String packed;
        try (Stream<Path> files = Files.list(project)) {
            packed = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".tgz"))
                    .findFirst()
                    .orElseThrow();
        }
        run(project, Map.of(), "npm", "install", "--offline", "--no-audit", "--no-fund", "./" + packed);
        return project;
    }

    private static void requireNpm() {
        boolean hasNpm = NpmPackages.runs("node", "--version") && NpmPackages.runs("npm", "--version");
        if (!hasNpm) {
            System.err.println("SKIPPED: ClientsIT needs Node and npm on the PATH for the client in TypeScript");
        }
        Assumptions.assumeTrue(hasNpm, "no Node with npm");
    }

    private static String node(Path project, String gateway, String program) throws Exception {
        Files.copy(CLONE.resolve("standalone/src/test/resources/clients").resolve(program), project.resolve(program));
        return run(project, Map.of("MILLRACE_URL", gateway), "node", program);
    }

    private static String run(Path folder, Map<String, String> environment, String... command) throws Exception {
        Path output = Files.createTempFile(temp, "output", ".txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        if (!process.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError(String.join(" ", command) + " did not end: " + Files.readString(output));
        }
        String said = Files.readString(output, StandardCharsets.UTF_8);
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }
}
