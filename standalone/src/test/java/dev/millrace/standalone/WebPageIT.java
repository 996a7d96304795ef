package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.schemas.Json;
import dev.millrace.testing.Chromium;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.NpmPackages;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Issue 14 item 4: what a page in a real browser can do to a Millrace on the same machine. Judged at the server: what the
 * gateway has taken, which tasks there are, and whether they go on; and at the page, which may read nothing. A server that
 * lets everybody in is attacked in the same way, so that it is known that the browser does what it is told.
 */
class WebPageIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final String FOREIGN = "evil.example";

    private static final String SCRIPT = """
            rules:
              - user: 'wheel'
                steps:
                  - calls: [{ tool: ask_user, arguments: { question: "Which wheel?" } }]
                  - text: "You chose {{result.ask_user}}"
              - text: "You said {{user}}"
            """;

    /** Everything that a page can send without being asked first, and what it has to ask for; says what it could read. */
    private static final String ATTACK = """
            (async () => {
              const base = BASE, victim = VICTIM, read = []
              const chat = JSON.stringify({ model: 'general', messages: [{ role: 'user', content: 'from a page' }] })
              const task = JSON.stringify({ text: 'from a page' })
              const forget = JSON.stringify({ scope: 'task', taskId: victim })
              const event = JSON.stringify({ specversion: '1.0', id: 'from-a-page', source: 'page', subject: victim,
                type: 'TASK_CANCEL_REQUESTED', data: {} })
              const posts = [['/v1/tasks', task], ['/v1/chat/completions', chat], ['/v1/forget', forget],
                ['/v1/events', event], ['/v1/tasks/' + victim + '/cancel', ''], ['/v1/system/drain', '']]
              const gets = ['/v1/tasks', '/v1/tasks/' + victim, '/v1/stream', '/internal/tasks', '/openapi', '/q/metrics']
              const all = []
              const fetching = (path, options) => all.push(fetch(base + path, { cache: 'no-store', ...options })
                .then(async answer => {
                  if (answer.type === 'opaque') return
                  const reader = answer.body.getReader()
                  read.push(path + ' ' + answer.status + ' ' + new TextDecoder().decode((await reader.read()).value))
                  await reader.cancel()
                }).catch(() => {}))
              for (const mode of ['cors', 'no-cors', 'same-origin']) {
                for (const path of gets) if (mode === 'cors' || path !== '/v1/stream') fetching(path, { mode })
                for (const [path, body] of posts) {
                  fetching(path, { mode, method: 'POST', body })
                  fetching(path, { mode, method: 'POST', body: new Blob([body]) })
                  fetching(path, { mode, method: 'POST', body, keepalive: true, credentials: 'include' })
                  if (mode === 'cors') for (const method of ['POST', 'PUT', 'DELETE']) {
                    fetching(path, { mode, method, body, headers: { 'content-type': 'application/json' } })
                  }
                }
              }
              const settled = (element, attach) => all.push(new Promise(done => {
                element.onload = element.onerror = done
                setTimeout(done, 5000)
                attach()
              }))
              for (const [path, body] of posts) {
                for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
                  const frame = document.createElement('iframe')
                  frame.name = 'frame-' + path + enctype
                  document.body.append(frame)
                  const form = document.createElement('form')
                  Object.assign(form, { method: 'POST', action: base + path, enctype, target: frame.name })
                  // as text/plain this makes name=value of the body, which is JSON if the name takes its first half
                  const field = document.createElement('input')
                  field.name = body ? body.slice(0, -1) + ',"x":"' : 'x'
                  field.value = body ? '"}' : 'y'
                  form.append(field)
                  document.body.append(form)
                  settled(frame, () => form.submit())
                }
              }
              for (const path of gets.filter(path => path !== '/v1/stream')) {
                for (const name of ['img', 'script', 'iframe']) {
                  const element = document.createElement(name)
                  element.src = base + path + '?by=' + name
                  settled(element, () => document.body.append(element))
                }
              }
              for (const path of ['/v1/stream', '/v1/notifications']) {
                const source = new EventSource(base + path)
                all.push(new Promise(done => {
                  source.onopen = () => { read.push(path + ' is open'); source.close(); done() }
                  source.onerror = () => { source.close(); done() }
                }))
              }
              for (const [path, body] of posts) {
                navigator.sendBeacon(base + path + '?by=beacon', body)
                navigator.sendBeacon(base + path + '?by=blob', new Blob([body]))
              }
              all.push(new Promise(done => {
                addEventListener('message', done)
                const frame = document.createElement('iframe')
                frame.sandbox = 'allow-scripts'
                frame.srcdoc = `<script>
                  Promise.all(['/v1/system/drain?by=null', '/v1/chat/completions?by=null'].map(path =>
                    fetch('${base}' + path, { method: 'POST', mode: 'no-cors', body: '${chat}' }).catch(() => {})))
                    .then(() => parent.postMessage('done', '*'))<\\/script>`
                document.body.append(frame)
              }))
              await Promise.all(all)
              const sent = () => performance.getEntriesByType('resource').filter(e => e.initiatorType === 'beacon').length
              for (let i = 0; i < 200 && sent() < 2 * posts.length; i++) await new Promise(done => setTimeout(done, 50))
              return { read, beacons: sent(), origin }
            })()""";

    /** A page whose own name points here can send what it likes: it is of the same origin. */
    private static final String REBOUND = """
            (async () => {
              const victim = VICTIM, read = []
              const json = { 'content-type': 'application/json' }
              const send = (path, options) => fetch(path, { cache: 'no-store', ...options })
                .then(async answer => {
                  const text = await answer.text()
                  read.push({ path, status: answer.status, code: (text.match(/"code":"([a-z_]+)"/) ?? [])[1] ?? text })
                }).catch(e => read.push({ path, status: 0, code: String(e) }))
              for (const path of ['/v1/tasks', '/v1/tasks/' + victim, '/internal/tasks', '/openapi', '/q/metrics',
                  '/q/swagger-ui/', '/q/health']) await send(path)
              for (const [path, body] of [['/v1/tasks', { text: 'rebound' }],
                  ['/v1/chat/completions', { model: 'general', messages: [{ role: 'user', content: 'rebound' }] }],
                  ['/v1/forget', { scope: 'task', taskId: victim }], ['/v1/tasks/' + victim + '/cancel', {}],
                  ['/v1/system/drain', {}]]) {
                await send(path, { method: 'POST', headers: json, body: JSON.stringify(body) })
                await send(path, { method: 'POST',
                  headers: { ...json, 'x-forwarded-host': 'localhost', forwarded: 'host=localhost' },
                  body: JSON.stringify(body) })
              }
              return { read, origin }
            })()""";

    @TempDir
    static Path temp;

    private static final int PORT = FreePort.find();
    private static final HttpApi API = HttpApi.onPort(PORT);
    private static ServiceProcess up;
    private static HttpServer attacker;
    private static HttpServer open;
    private static final Set<String> REACHED = ConcurrentHashMap.newKeySet();

    @BeforeAll
    static void start() throws IOException {
        Path script = Files.writeString(temp.resolve("script.yaml"), SCRIPT);
        up = ServiceProcess.standalone(
                        "up", "--port", Integer.toString(PORT), "--kafka-port", "0", "--script", script.toString())
                .start(temp)
                .awaitOutput("Millrace is ready", ServiceProcess.START_LIMIT);
        attacker = serve(exchange -> {});
        open = serve(exchange -> REACHED.add(exchange.getRequestMethod()
                + ' '
                + exchange.getRequestURI()
                + ' '
                + exchange.getRequestHeaders().getFirst("Content-Type")));
    }

    @AfterAll
    static void stop() {
        attacker.stop(0);
        open.stop(0);
        up.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {FOREIGN, "localhost"})
    @DisplayName("a page of another site, or of another port of this machine, reaches nothing and reads nothing")
    void shouldTakeNothingFromAPageOfAnotherOrigin(String host) throws Exception {
        // given
        Path browser = browser();
        String victim = victim();
        double taken = taken();
        Set<String> tasks = tasks();

        try (Chromium chromium = Chromium.start(browser, Files.createTempDirectory(temp, "browser"), FOREIGN)) {
            for (String target : List.of("localhost", "127.0.0.1")) {
                // when
                chromium.open("http://" + host + ":" + attacker.getAddress().getPort() + "/");
                JsonNode found = chromium.run(attack(ATTACK, "http://" + target + ":" + PORT, victim));

                // then
                assertThat(found.path("origin").asText()).contains(host);
                assertThat(found.path("read")).as(found.toString()).isEmpty();
                assertThat(found.path("beacons").asInt()).isEqualTo(12);
            }
            assertThat(taken()).as("events that the gateway has taken").isEqualTo(taken);
            assertThat(tasks()).isEqualTo(tasks);
            assertGoesOn(victim);

            // and when: the same against a server that lets everybody in
            REACHED.clear();
            chromium.open("http://" + host + ":" + attacker.getAddress().getPort() + "/");
            JsonNode reached = chromium.run(
                    attack(ATTACK, "http://localhost:" + open.getAddress().getPort(), victim));

            // then
            assertThat(reached.path("read")).isNotEmpty();
            assertThat(REACHED)
                    .contains(
                            "POST /v1/chat/completions text/plain;charset=UTF-8",
                            "POST /v1/chat/completions null",
                            "POST /v1/chat/completions text/plain",
                            "POST /v1/chat/completions application/json",
                            "POST /v1/chat/completions?by=beacon text/plain;charset=UTF-8",
                            "POST /v1/system/drain?by=null text/plain;charset=UTF-8",
                            "GET /v1/tasks?by=img null",
                            "GET /v1/stream null");
        }
    }

    @Test
    @DisplayName("a page whose own name was made to point here reaches nothing and reads nothing but the refusal")
    void shouldTakeNothingUnderAReboundName() throws Exception {
        // given
        Path browser = browser();
        String victim = victim();
        double taken = taken();
        Set<String> tasks = tasks();

        try (Chromium chromium = Chromium.start(browser, Files.createTempDirectory(temp, "browser"), FOREIGN)) {
            // when
            chromium.open("http://" + FOREIGN + ":" + PORT + "/q/swagger-ui/");
            JsonNode found = chromium.run(attack(REBOUND, "", victim));

            // then
            assertThat(found.path("origin").asText()).isEqualTo("http://" + FOREIGN + ":" + PORT);
            assertThat(found.path("read"))
                    .hasSize(17)
                    .allSatisfy(answer -> assertThat(answer.path("status").asText()
                                    + ' '
                                    + answer.path("code").asText())
                            .isEqualTo("421 unknown_host"));
            assertThat(taken()).isEqualTo(taken);
            assertThat(tasks()).isEqualTo(tasks);
            assertGoesOn(victim);
        }
    }

    @Test
    @DisplayName("a page of the gateway itself may do what it likes: Swagger UI is one")
    void shouldServeItsOwnPages() throws Exception {
        // given
        try (Chromium chromium = Chromium.start(browser(), Files.createTempDirectory(temp, "browser"))) {
            chromium.open("http://localhost:" + PORT + "/q/swagger-ui/");

            // when
            JsonNode answer = chromium.run("""
                    fetch('/v1/tasks?wait=30s', { method: 'POST', headers: { 'content-type': 'application/json' },
                      body: JSON.stringify({ text: 'hello' }) }).then(answer => answer.json())""");

            // then
            assertThat(answer.path("response").asText()).isEqualTo("You said hello");
            assertThat(chromium.run("fetch('/openapi').then(answer => answer.status)")
                            .asInt())
                    .isEqualTo(200);
        }
    }

    @Test
    @DisplayName("curl does the same without further ado, also without a body")
    void shouldServeCurl() throws Exception {
        boolean curl = NpmPackages.runs("curl", "--version");
        if (!curl) {
            System.err.println("SKIPPED: WebPageIT.shouldServeCurl needs curl on the PATH");
        }
        Assumptions.assumeTrue(curl, "curl is not installed");
        for (String base : List.of("http://localhost:" + PORT, "http://127.0.0.1:" + PORT)) {
            String victim = victim();
            assertThat(curl(
                            base + "/v1/tasks?wait=30s",
                            "-H",
                            "content-type: application/json",
                            "-d",
                            "{\"text\": \"by curl\"}"))
                    .startsWith("200 ")
                    .contains("You said by curl");
            assertThat(curl(
                            base + "/v1/chat/completions",
                            "-H",
                            "content-type: application/json",
                            "-d",
                            "{\"model\":\"general\",\"messages\":[{\"role\":\"user\",\"content\":\"by curl\"}]}"))
                    .startsWith("200 ")
                    .contains("You said by curl");
            assertThat(curl(base + "/v1/system/drain", "-X", "POST")).startsWith("202 ");
            assertThat(curl(base + "/v1/system/resume", "-X", "POST")).startsWith("202 ");
            assertThat(curl(base + "/v1/tasks/" + victim + "/cancel", "-X", "POST"))
                    .startsWith("202 ");
            assertThat(API.awaitEnd(victim, LIMIT).path("state").asText()).isEqualTo("cancelled");
            assertThat(curl(base + "/v1/tasks")).startsWith("200 ").contains(victim);
        }
    }

    private static Path browser() {
        Optional<Path> browser = Chromium.find("WebPageIT");
        Assumptions.assumeTrue(browser.isPresent(), "Chromium is not installed");
        return browser.orElseThrow();
    }

    /** A task that waits for an answer. */
    private static String victim() {
        String taskId = API.submit("Oil the wheel");
        await().atMost(LIMIT)
                .until(() -> API.get("/v1/tasks/" + taskId)
                        .json()
                        .path("state")
                        .asText()
                        .equals("suspended"));
        return taskId;
    }

    /** It was neither cancelled nor forgotten, and nobody drains. */
    private static void assertGoesOn(String victim) {
        assertThat(API.post("/v1/tasks/" + victim + "/resume", Map.of("newInput", "Ada"))
                        .status())
                .isEqualTo(202);
        assertThat(API.awaitEnd(victim, LIMIT).path("response").asText()).isEqualTo("You chose Ada");
        assertThat(API.awaitEnd(API.submit("after it"), LIMIT).path("state").asText())
                .isEqualTo("completed");
    }

    private static Set<String> tasks() {
        Set<String> ids = ConcurrentHashMap.newKeySet();
        StreamSupport.stream(API.get("/v1/tasks?limit=200").json().path("tasks").spliterator(), false)
                .map(task -> task.path("taskId").asText())
                .forEach(ids::add);
        return ids;
    }

    /** How many events the gateway has taken, whatever became of them. */
    private static double taken() {
        return API.get("/q/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("millrace_gateway_accepted_total"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    private static String attack(String script, String base, String victim) {
        return script.replace("BASE", Json.writeText(base)).replace("VICTIM", Json.writeText(victim));
    }

    private static String curl(String url, String... more) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("curl", "-s", "-m", "40", "-w", "%{stderr}%{http_code} ", url));
        command.addAll(List.of(more));
        Path status = Files.createTempFile(temp, "curl", ".status");
        Path body = Files.createTempFile(temp, "curl", ".body");
        Process process = new ProcessBuilder(command)
                .redirectError(status.toFile())
                .redirectOutput(body.toFile())
                .start();
        assertThat(process.waitFor(LIMIT.toSeconds() + 5, TimeUnit.SECONDS)).isTrue();
        return Files.readString(status) + Files.readString(body);
    }

    private interface Noting {
        void note(HttpExchange exchange);
    }

    /** A server that answers everybody, and lets every page read it. */
    private static HttpServer serve(Noting noting) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            noting.note(exchange);
            exchange.getRequestBody().readAllBytes();
            String origin = exchange.getRequestHeaders().getFirst("Origin");
            if (origin != null) {
                exchange.getResponseHeaders().set("Access-Control-Allow-Origin", origin);
                exchange.getResponseHeaders().set("Access-Control-Allow-Credentials", "true");
                exchange.getResponseHeaders().set("Access-Control-Allow-Headers", "content-type");
                exchange.getResponseHeaders().set("Access-Control-Allow-Methods", "POST, PUT, DELETE");
            }
            boolean stream =
                    "text/event-stream".equals(exchange.getRequestHeaders().getFirst("Accept"));
            exchange.getResponseHeaders().set("Content-Type", stream ? "text/event-stream" : "text/html");
            byte[] page = "<!doctype html><title>page</title><body></body>".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        server.start();
        return server;
    }
}
