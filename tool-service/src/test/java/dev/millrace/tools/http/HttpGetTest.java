package dev.millrace.tools.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.http.guarded.GuardedHttp;
import dev.millrace.requests.Reply;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import dev.millrace.tools.ToolExecutor;
import dev.millrace.tools.secrets.Secrets;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.GZIPOutputStream;
import org.apache.hc.client5.http.DnsResolver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that plays tricks, on the loopback address; {@code allowed.example} and {@code other.example} lead there. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class HttpGetTest {

    private static final int MAX_BODY = 10_000;

    private final List<String> hits = new CopyOnWriteArrayList<>();
    private final List<GuardedHttp> clients = new ArrayList<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpServer server;
    /** Made before the clock of a request runs. */
    private final byte[] bomb = bomb();

    private final CallableTool tool;

    HttpGetTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        tool = tool(List.of("allowed.example"));
    }

    @BeforeEach
    void startServer() {
        server.setExecutor(threads);
        server.createContext("/", this::serve);
        server.start();
    }

    @AfterEach
    void stopServer() throws IOException {
        for (GuardedHttp client : clients) {
            client.close();
        }
        server.stop(0);
        threads.shutdownNow();
    }

    @Test
    void shouldFetch() throws ToolException, InterruptedException {
        // when
        Map<String, Object> result = Calls.result(tool, Map.of("url", url("/text"), "headers", Map.of("X-Test", "1")));
        // then
        assertThat(result)
                .containsEntry("status", 200)
                .containsEntry("body", "grüß Gott")
                .containsEntry("truncated", false);
        assertThat(result.get("headers")).asString().contains("text/plain").doesNotContain("hidden");
        assertThat(hits).containsExactly("/text x-test=1 authorization=null");
    }

    @Test
    void shouldTellOfAnErrorAsAnAnswer() throws ToolException, InterruptedException {
        assertThat(Calls.result(tool, Map.of("url", url("/missing")))).containsEntry("status", 404);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // loopback and this host, in all spellings
                "http://127.0.0.1:PORT/text",
                "http://127.0.0.1.:PORT/text",
                "http://127.1:PORT/text",
                "http://2130706433:PORT/text",
                "http://0177.0.0.1:PORT/text",
                "http://017700000001:PORT/text",
                "http://0x7f000001:PORT/text",
                "http://0x7f.0.0.1:PORT/text",
                "http://0:PORT/text",
                "http://0.0.0.0:PORT/text",
                "http://localhost:PORT/text",
                "http://LOCALHOST:PORT/text",
                "http://localhost.:PORT/text",
                "http://[::1]:PORT/text",
                "http://[::]:PORT/text",
                "http://[0:0:0:0:0:0:0:1]:PORT/text",
                "http://[::ffff:127.0.0.1]:PORT/text",
                "http://[::ffff:7f00:1]:PORT/text",
                "http://[::127.0.0.1]:PORT/text",
                "http://[64:ff9b::7f00:1]:PORT/text",
                "http://[2002:7f00:1::]:PORT/text",
                "http://[fe80::1%25lo]:PORT/text",
                // private, link-local, metadata, multicast, broadcast
                "http://10.0.0.1/",
                "http://172.16.0.1/",
                "http://192.168.0.1/",
                "http://100.64.0.1/",
                "http://169.254.169.254/latest/meta-data/",
                "http://[fd00:ec2::254]/latest/meta-data/",
                "http://[fd00::1]/",
                "http://224.0.0.1/",
                "http://255.255.255.255/",
                // names that lead there
                "http://other.example:PORT/text",
                "http://trap.example:PORT/text",
                "http://allowed.example.evil.example:PORT/text",
                // who is the host here?
                "http://allowed.example@127.0.0.1:PORT/text",
                "http://127.0.0.1:PORT\\@allowed.example/text",
                "http://user:secret@allowed.example:PORT/text",
                "http://allowed.example#@127.0.0.1:PORT/text",
                "http://127。0。0。1:PORT/text",
                "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/text",
                "http://127.0.0.1%00.allowed.example:PORT/text",
                "http://allowed.example%2f@127.0.0.1:PORT/text",
                // other schemes, and none
                "file:///etc/passwd",
                "ftp://allowed.example/x",
                "gopher://127.0.0.1:PORT/_GET",
                "jar:http://allowed.example!/x",
                "data:text/plain,hello",
                "javascript:alert(1)",
                "//127.0.0.1:PORT/text",
                "127.0.0.1:PORT/text",
                "http:127.0.0.1:PORT/text",
                "http:///text",
                "http://",
                "http://:PORT/text",
                "http://allowed.example:99999/text",
                "http://allowed.example:PORT/te xt",
                "http://allowed.example:PORT/text\r\nX-Evil: 1",
                "not a url"
            })
    void shouldRefuse(String url) {
        // when
        ToolException no = Calls.refusal(
                tool,
                Map.of(
                        "url",
                        url.replace("PORT", Integer.toString(server.getAddress().getPort()))));
        // then
        assertThat(no.code()).isIn("address_refused", "unknown_host", "bad_url", "http_failed");
        assertThat(hits).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://127.0.0.1:PORT/text",
                "http://[::1]:PORT/text",
                "http://2130706433:PORT/text",
                "http://other.example:PORT/text",
                "//other.example:PORT/text",
                "http://169.254.169.254/latest/meta-data/",
                "file:///etc/passwd",
                "ftp://allowed.example/",
                "http://user:secret@allowed.example:PORT/text",
                "http://["
            })
    void shouldRefuseRedirects(String target) {
        // when
        ToolException no = Calls.refusal(tool, Map.of("url", url("/to?" + target)));
        // then
        assertThat(no.code())
                .isIn(
                        "address_refused",
                        "unknown_host",
                        "bad_url",
                        "bad_redirect",
                        "too_many_redirects",
                        "http_failed");
        assertThat(hits).noneMatch(hit -> hit.startsWith("/text"));
    }

    @Test
    void shouldFollowRedirectsWithinReason() throws ToolException, InterruptedException {
        // when
        Map<String, Object> result = Calls.result(tool, Map.of("url", url("/hops?5")));
        ToolException no = Calls.refusal(tool, Map.of("url", url("/hops?6")));
        ToolException loop = Calls.refusal(tool, Map.of("url", url("/loop")));
        // then
        assertThat(result).containsEntry("status", 200).containsEntry("body", "grüß Gott");
        assertThat(no.code()).isEqualTo("too_many_redirects");
        assertThat(loop.code()).isEqualTo("too_many_redirects");
    }

    @Test
    void shouldNotTellAnotherHostWhatWasMeantForTheFirst() throws ToolException, InterruptedException {
        // given
        CallableTool both = tool(List.of("*.example"));
        String target = "http://other.example:" + server.getAddress().getPort() + "/text";
        // when
        Map<String, Object> result = Calls.result(
                both, Map.of("url", url("/to?" + target), "headers", Map.of("Authorization", "secret", "X-Test", "1")));
        // then
        assertThat(result).containsEntry("status", 200);
        assertThat(hits.getLast()).isEqualTo("/text x-test=null authorization=null");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Host", "host", "Content-Length", "Transfer-Encoding", "Connection", "X Bad", "X:Bad", ""})
    void shouldNotSetHeadersThatChangeTheRequest(String name) {
        assertThat(Calls.refusal(tool, Map.of("url", url("/text"), "headers", Map.of(name, "x")))
                        .code())
                .isEqualTo("bad_header");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\r\nX-Evil: 1", "a\nb", "a\0b"})
    void shouldNotSmuggleHeaders(String value) {
        assertThat(Calls.refusal(tool, Map.of("url", url("/text"), "headers", Map.of("X-Test", value)))
                        .code())
                .isEqualTo("bad_header");
        assertThat(hits).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/endless", "/huge", "/bomb"})
    void shouldReadNoMoreThanTheLimit(String path) throws ToolException, InterruptedException {
        // given
        long start = System.nanoTime();
        // when
        Map<String, Object> result = Calls.result(tool, Map.of("url", url(path)));
        // then
        assertThat(result).containsEntry("truncated", true);
        assertThat(String.valueOf(result.get("body"))).hasSize(MAX_BODY);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    void shouldNotShowBinaryContentAsText() throws ToolException, InterruptedException {
        assertThat(Calls.result(tool, Map.of("url", url("/binary"))).get("body"))
                .asString()
                .startsWith("(binary content of ");
    }

    @Test
    void shouldGiveUpOnASilentServer() {
        // when
        ToolException no = Calls.refusal(tool, Map.of("url", url("/silent")));
        // then
        assertThat(no.code()).isEqualTo("http_failed");
    }

    @Test
    void shouldGiveUpOnHeadersWithoutEnd() {
        // when
        ToolException no = Calls.refusal(tool, Map.of("url", url("/long-header")));
        // then
        assertThat(no.code()).isEqualTo("http_failed");
    }

    @Test
    void shouldEndWhenItsTimeIsOverHoweverSlowlyTheServerTalks() throws InterruptedException {
        // given
        ToolExecutor executor = Calls.executor(tool);
        long start = System.nanoTime();
        // when
        Reply reply = executor.handle(Calls.request("http_get", Map.of("url", url("/dripping")), 500));
        // then
        assertThat(reply)
                .isInstanceOfSatisfying(
                        Reply.Failed.class, failed -> assertThat(failed.code()).isEqualTo("tool_timeout"));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }

    private String url(String path) {
        return "http://allowed.example:" + server.getAddress().getPort() + path;
    }

    private CallableTool tool(List<String> allowed) {
        GuardedHttp client = new GuardedHttp(new GuardedHttp.Limits(allowed, 1_000, 1_000, MAX_BODY), new TestNames());
        clients.add(client);
        return Calls.tool(new HttpTools(new HttpCalls(client, Secrets.NONE)), "http_get");
    }

    private void serve(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String query = exchange.getRequestURI().getRawQuery();
        hits.add(path + " x-test=" + exchange.getRequestHeaders().getFirst("X-Test") + " authorization="
                + exchange.getRequestHeaders().getFirst("Authorization"));
        try (exchange) {
            switch (path) {
                case "/text" -> {
                    exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
                    exchange.getResponseHeaders().set("X-Other", "hidden");
                    answer(exchange, "grüß Gott".getBytes(UTF_8));
                }
                case "/to" -> redirect(exchange, query == null ? "" : query);
                case "/hops" -> {
                    int left = Integer.parseInt(String.valueOf(query));
                    redirect(exchange, left == 1 ? "/text" : "/hops?" + (left - 1));
                }
                case "/loop" -> redirect(exchange, "/loop");
                case "/huge" -> {
                    exchange.sendResponseHeaders(200, Long.MAX_VALUE / 2);
                    pour(exchange);
                }
                case "/endless" -> {
                    exchange.sendResponseHeaders(200, 0);
                    pour(exchange);
                }
                case "/bomb" -> {
                    exchange.getResponseHeaders().set("Content-Encoding", "gzip");
                    answer(exchange, bomb);
                }
                case "/binary" -> answer(exchange, new byte[] {1, 0, 2});
                case "/silent" -> pause(Duration.ofSeconds(30));
                case "/dripping" -> {
                    exchange.sendResponseHeaders(200, 0);
                    for (int i = 0; i < 100; i++) {
                        exchange.getResponseBody().write('x');
                        exchange.getResponseBody().flush();
                        pause(Duration.ofMillis(200));
                    }
                }
                case "/long-header" -> {
                    exchange.getResponseHeaders().set("X-Long", "x".repeat(50_000_000));
                    answer(exchange, new byte[0]);
                }
                default -> exchange.sendResponseHeaders(404, -1);
            }
        }
    }

    private static void redirect(HttpExchange exchange, String target) throws IOException {
        exchange.getResponseHeaders().set("Location", target);
        exchange.sendResponseHeaders(302, -1);
    }

    private static void answer(HttpExchange exchange, byte[] body) throws IOException {
        exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    private static void pour(HttpExchange exchange) throws IOException {
        byte[] piece = "x".repeat(8_192).getBytes(UTF_8);
        OutputStream body = exchange.getResponseBody();
        while (!Thread.currentThread().isInterrupted()) {
            body.write(piece);
        }
    }

    private static void pause(Duration time) {
        try {
            boolean unused = new java.util.concurrent.CountDownLatch(1)
                    .await(time.toNanos(), java.util.concurrent.TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static byte[] bomb() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream zipped = new GZIPOutputStream(bytes)) {
            byte[] piece = "x".repeat(1_000_000).getBytes(UTF_8);
            for (int i = 0; i < 30; i++) {
                zipped.write(piece);
            }
        }
        return bytes.toByteArray();
    }

    /** Knows three names; of the rest, only literals. Nothing outside this machine is asked. */
    private static final class TestNames implements DnsResolver {
        @Override
        public InetAddress[] resolve(String host) throws UnknownHostException {
            InetAddress here = InetAddress.getLoopbackAddress();
            return switch (host) {
                case "allowed.example", "other.example" -> new InetAddress[] {here};
                case "trap.example" -> new InetAddress[] {InetAddress.getByName("8.8.8.8"), here};
                default -> literal(host);
            };
        }

        private static InetAddress[] literal(String host) throws UnknownHostException {
            if (host.toLowerCase(java.util.Locale.ROOT).startsWith("localhost")) {
                return new InetAddress[] {InetAddress.getLoopbackAddress()};
            }
            // with leading zeros Java reads decimal numbers, so these would be addresses of strangers
            if (!host.matches("\\[?[0-9a-fA-F.:%lo]+]?") || host.startsWith("0177") || host.endsWith(".")) {
                throw new UnknownHostException(host);
            }
            return InetAddress.getAllByName(host);
        }

        @Override
        public String resolveCanonicalHostname(String host) {
            return host;
        }
    }
}
