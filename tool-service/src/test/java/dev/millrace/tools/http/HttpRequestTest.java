package dev.millrace.tools.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.http.guarded.GuardedHttp;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tool.api.ToolException.Again;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import dev.millrace.tools.secrets.Secrets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hc.client5.http.DnsResolver;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that may change something; {@code a.example} and {@code b.example} lead to a server here. */
@DisplayName("F-169: http_post and http_request")
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HttpRequestTest {

    private final List<String> hits = new CopyOnWriteArrayList<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicInteger asked = new AtomicInteger();
    private final HttpServer server;
    private final GuardedHttp client;
    private final CallableTool post;
    private final CallableTool request;

    HttpRequestTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        client = new GuardedHttp(new GuardedHttp.Limits(List.of("*.example"), 1_000, 1_000, 10_000), new Names());
        HttpCalls calls = new HttpCalls(
                client,
                new Secrets(List.of(new Secrets.Secret("KEY", "the-key", List.of("http://a.example"), Set.of()))));
        post = Calls.tool(new HttpTools(calls), "http_post");
        request = Calls.tool(new HttpTools(calls), "http_request");
    }

    @BeforeEach
    void startServer() {
        server.setExecutor(threads);
        server.createContext("/", this::serve);
        server.start();
    }

    @AfterEach
    void stopServer() throws IOException {
        client.close();
        server.stop(0);
        threads.shutdownNow();
    }

    @Test
    void shouldPostTextAndJson() throws ToolException, InterruptedException {
        // when
        Calls.result(post, Map.of("url", url("a", "/x"), "body", "plain"));
        Calls.result(post, Map.of("url", url("a", "/x"), "body", Map.of("a", 1)));
        Calls.result(
                post, Map.of("url", url("a", "/x"), "body", "<a/>", "headers", Map.of("content-type", "text/xml")));
        Calls.result(post, Map.of("url", url("a", "/x")));
        // then
        assertThat(hits)
                .containsExactly(
                        "POST /x text/plain; charset=utf-8 plain key=call-1 auth=null",
                        "POST /x application/json {\"a\":1} key=call-1 auth=null",
                        "POST /x text/xml <a/> key=call-1 auth=null",
                        "POST /x null  key=call-1 auth=null");
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
    void shouldUseTheMethodThatIsAskedFor(String method) throws ToolException, InterruptedException {
        // when
        Map<String, Object> result = Calls.result(request, Map.of("method", method, "url", url("a", "/x")));
        // then
        assertThat(result).containsEntry("status", 200).containsEntry("body", "ok");
        assertThat(hits.getFirst()).startsWith(method + " /x");
        assertThat(hits.getFirst().contains("key=call-1")).isEqualTo(!method.equals("GET"));
    }

    @Test
    void shouldPutASecretIntoAHeaderAndNotTellOthers() throws ToolException, InterruptedException {
        // given
        Map<String, String> headers = Map.of("Authorization", "Bearer {{secret:KEY}}");
        // when
        Calls.result(post, Map.of("url", url("a", "/x"), "headers", headers));
        ToolException elsewhere = Calls.refusal(post, Map.of("url", url("b", "/x"), "headers", headers));
        Calls.result(post, Map.of("url", url("a", "/to-b?302"), "headers", headers));
        // then
        assertThat(hits.getFirst()).endsWith("auth=Bearer the-key");
        assertThat(elsewhere.code()).isEqualTo("secret_refused");
        assertThat(hits.getLast()).startsWith("GET /x").endsWith("auth=null");
    }

    @ParameterizedTest
    @ValueSource(ints = {307, 308})
    void shouldNotSendABodyToAnotherHost(int status) {
        // when
        ToolException no = Calls.refusal(post, Map.of("url", url("a", "/to-b?" + status), "body", "private"));
        // then
        assertThat(no.code()).isEqualTo("bad_redirect");
        assertThat(hits).noneMatch(hit -> hit.contains("/x"));
    }

    @Test
    void shouldKeepABodyOnlyWhereTheStatusSaysSo() throws ToolException, InterruptedException {
        // when
        Calls.result(post, Map.of("url", url("a", "/to-a?307"), "body", "b"));
        Calls.result(post, Map.of("url", url("a", "/to-a?303"), "body", "b"));
        // then
        assertThat(hits.get(1)).startsWith("POST /x text/plain; charset=utf-8 b");
        assertThat(hits.get(3)).startsWith("GET /x");
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 503})
    @DisplayName("F-258: 429 and 503 are worth another attempt")
    void shouldSayThatItMayWorkAnotherTime(int status) {
        // when
        ToolException no = Calls.refusal(post, Map.of("url", url("a", "/status?" + status)));
        // then
        assertThat(no.code()).isEqualTo("http_status");
        assertThat(no.again()).isEqualTo(Again.PASSING);
        assertThat(no.retryAfter()).contains(Duration.ofSeconds(7));
        assertThat(no.getMessage()).contains("status " + status);
    }

    @Test
    void shouldSayWhetherAnythingWasDone() {
        // when
        ToolException nobody = Calls.refusal(post, Map.of("url", "http://a.example:1/"));
        ToolException unknown = Calls.refusal(post, Map.of("url", "http://nowhere.test/"));
        ToolException silent = Calls.refusal(post, Map.of("url", url("a", "/silent")));
        ToolException refused = Calls.refusal(post, Map.of("url", "http://127.0.0.1:1/"));
        // then
        assertThat(nobody.again()).isEqualTo(Again.PASSING);
        assertThat(unknown.again()).isEqualTo(Again.PASSING);
        assertThat(silent.again()).isEqualTo(Again.UNCERTAIN);
        assertThat(refused.again()).isEqualTo(Again.NEVER);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{{secret:KEY}}\r\nX-Evil: 1", "a\nb"})
    void shouldNotSmuggleHeaders(String value) {
        assertThat(Calls.refusal(post, Map.of("url", url("a", "/x"), "headers", Map.of("X-Test", value)))
                        .code())
                .isEqualTo("bad_header");
        assertThat(hits).isEmpty();
    }

    @Test
    void shouldTakeNoBodyForNone() throws ToolException, InterruptedException {
        // given
        Map<String, @Nullable Object> params = new HashMap<>();
        params.put("url", url("a", "/x"));
        params.put("body", null);
        // when
        Calls.result(post, params);
        // then
        assertThat(hits.getFirst()).startsWith("POST /x null ");
    }

    private String url(String host, String path) {
        return "http://" + host + ".example:" + server.getAddress().getPort() + path;
    }

    private void serve(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String query = String.valueOf(exchange.getRequestURI().getRawQuery());
        hits.add(exchange.getRequestMethod() + " " + path + " "
                + exchange.getRequestHeaders().getFirst("Content-Type") + " "
                + new String(exchange.getRequestBody().readAllBytes(), UTF_8) + " key="
                + exchange.getRequestHeaders().getFirst("Idempotency-Key") + " auth="
                + exchange.getRequestHeaders().getFirst("Authorization"));
        try (exchange) {
            switch (path) {
                case "/to-a", "/to-b" -> {
                    exchange.getResponseHeaders().set("Location", url(path.substring(4), "/x"));
                    exchange.sendResponseHeaders(Integer.parseInt(query), -1);
                }
                case "/status" -> {
                    exchange.getResponseHeaders().set("Retry-After", "7");
                    exchange.sendResponseHeaders(Integer.parseInt(query), -1);
                }
                case "/silent" -> {
                    if (asked.incrementAndGet() > 0) {
                        boolean unused = new java.util.concurrent.CountDownLatch(1)
                                .await(5, java.util.concurrent.TimeUnit.SECONDS);
                    }
                }
                default -> {
                    byte[] body = "ok".getBytes(UTF_8);
                    exchange.sendResponseHeaders(200, body.length);
                    exchange.getResponseBody().write(body);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Names implements DnsResolver {
        @Override
        public InetAddress[] resolve(String host) throws java.net.UnknownHostException {
            if (host.endsWith(".example")) {
                return new InetAddress[] {InetAddress.getLoopbackAddress()};
            }
            if (host.equals("127.0.0.1")) {
                return new InetAddress[] {InetAddress.getLoopbackAddress()};
            }
            throw new java.net.UnknownHostException(host);
        }

        @Override
        public String resolveCanonicalHostname(String host) {
            return host;
        }
    }
}
