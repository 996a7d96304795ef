package dev.millrace.tools.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonPointer;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.http.guarded.GuardedHttp;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import dev.millrace.tools.secrets.Secrets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Against a search engine on the loopback address. */
@DisplayName("F-169: web_search")
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WebSearchTest {

    private static final String FOUND = """
        {"web":{"results":[
          {"title":"One","url":"https://one.example","description":"1st"},
          {"title":"Two"}]}}\
        """;

    private final List<String> hits = new CopyOnWriteArrayList<>();
    private final HttpServer server;
    private final GuardedHttp client;
    private final CallableTool tool;

    WebSearchTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        client = new GuardedHttp(new GuardedHttp.Limits(List.of("127.0.0.1"), 1_000, 1_000, 100_000));
        Secrets secrets =
                new Secrets(List.of(new Secrets.Secret("KEY", "the-key", List.of("http://127.0.0.1"), Set.of())));
        tool = Calls.tool(
                new WebSearch(
                        new HttpCalls(client, secrets),
                        new WebSearch.Provider(
                                "http://127.0.0.1:" + server.getAddress().getPort() + "/search?q={query}&n={limit}",
                                Map.of("X-Token", "{{secret:KEY}}"),
                                JsonPointer.compile("/web/results"),
                                JsonPointer.compile("/title"),
                                JsonPointer.compile("/url"),
                                JsonPointer.compile("/description"))),
                "web_search");
    }

    @BeforeEach
    void startServer() {
        server.createContext("/", this::serve);
        server.start();
    }

    @AfterEach
    void stopServer() throws IOException {
        client.close();
        server.stop(0);
    }

    @Test
    void shouldSearch() throws ToolException, InterruptedException {
        // when
        Map<String, Object> found = Calls.result(tool, Map.of("query", "grüne & {limit}", "limit", 1));
        // then
        assertThat(found)
                .isEqualTo(Map.of(
                        "results", List.of(Map.of("title", "One", "url", "https://one.example", "snippet", "1st"))));
        assertThat(hits).containsExactly("/search?q=gr%C3%BCne+%26+%7Blimit%7D&n=1 the-key");
    }

    @Test
    void shouldGiveTenUnlessToldOtherwise() throws ToolException, InterruptedException {
        // when
        Map<String, Object> found = Calls.result(tool, Map.of("query", "x"));
        // then
        assertThat(Calls.objects(found, "results"))
                .hasSize(2)
                .last()
                .isEqualTo(Map.of("title", "Two", "url", "", "snippet", ""));
        assertThat(hits.getFirst()).contains("n=10 ");
    }

    @Test
    void shouldFindNothing() throws ToolException, InterruptedException {
        assertThat(Calls.result(tool, Map.of("query", "nothing"))).isEqualTo(Map.of("results", List.of()));
    }

    @Test
    void shouldTellWhatTheEngineSays() {
        // when
        ToolException refused = Calls.refusal(tool, Map.of("query", "refused"));
        ToolException page = Calls.refusal(tool, Map.of("query", "page"));
        // then
        assertThat(refused.code()).isEqualTo("http_status");
        assertThat(refused).hasMessageContaining("402").hasMessageContaining("pay first");
        assertThat(page.code()).isEqualTo("unreadable_answer");
    }

    @Test
    void shouldSayThatThereIsNoEngine() {
        // when
        ToolException no = Calls.refusal(
                Calls.tool(new WebSearch(new HttpCalls(client, Secrets.NONE), null), "web_search"),
                Map.of("query", "x"));
        // then
        assertThat(no.code()).isEqualTo("not_configured");
        assertThat(no).hasMessageContaining("millrace.tools.web-search.url");
    }

    private void serve(HttpExchange exchange) throws IOException {
        hits.add(exchange.getRequestURI() + " " + exchange.getRequestHeaders().getFirst("X-Token"));
        try (exchange) {
            String query = exchange.getRequestURI().getQuery();
            if (query.startsWith("q=refused&")) {
                answer(exchange, 402, "pay first");
            } else if (query.startsWith("q=page&")) {
                answer(exchange, 200, "<html>Hello</html>");
            } else if (query.startsWith("q=nothing&")) {
                answer(exchange, 200, "{\"web\":{}}");
            } else {
                answer(exchange, 200, FOUND);
            }
        }
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }
}
