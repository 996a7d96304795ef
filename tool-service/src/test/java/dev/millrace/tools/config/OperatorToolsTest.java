package dev.millrace.tools.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.millrace.http.client.InternalSecret;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import dev.millrace.tools.secrets.Secrets;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OperatorToolsTest {

    private static final String DOCUMENT = """
            openapi: 3.0.0
            info: {title: T, version: "1"}
            servers: [{url: "SERVER"}]
            paths: {/x: {get: {operationId: getX, responses: {}}}}
            """;

    @TempDir
    Path temp;

    private final List<OperatorTools> open = new ArrayList<>();
    private final HttpServer server;
    private String named = "";

    OperatorToolsTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    }

    @BeforeEach
    void start() {
        server.createContext("/document", exchange -> {
            byte[] document = DOCUMENT.replace("SERVER", named).getBytes(UTF_8);
            exchange.sendResponseHeaders(200, document.length);
            exchange.getResponseBody().write(document);
            exchange.close();
        });
        server.createContext("/x", exchange -> {
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        open.forEach(OperatorTools::close);
        server.stop(0);
    }

    @Test
    @DisplayName("a private host that only the document names is not reached")
    void shouldNotFollowADocumentToAPrivateHost() throws Exception {
        // given
        String file = Files.writeString(temp.resolve("api.yaml"), DOCUMENT.replace("SERVER", url("127.0.0.1")))
                .toString();
        named = url("localhost");
        // then
        assertThat(Calls.refusal(tool(Map.of("document", file)), Map.of()).code())
                .isEqualTo("address_refused");
        assertThat(Calls.refusal(tool(Map.of("document", url("127.0.0.1") + "/document")), Map.of())
                        .code())
                .isEqualTo("address_refused");
    }

    @Test
    @DisplayName("a private host that the operator names is")
    void shouldReachWhatTheOperatorNames() throws Exception {
        // given
        String file = Files.writeString(
                        temp.resolve("api.yaml"), DOCUMENT.replace("SERVER", "http://elsewhere.example"))
                .toString();
        named = "/";
        // then
        assertThat(Calls.result(tool(Map.of("document", file, "base-url", url("127.0.0.1"))), Map.of()))
                .containsEntry("status", 204);
        assertThat(Calls.result(tool(Map.of("document", url("127.0.0.1") + "/document")), Map.of()))
                .containsEntry("status", 204);
    }

    private String url(String host) {
        return "http://" + host + ":" + server.getAddress().getPort();
    }

    private CallableTool tool(Map<String, String> api) {
        Map<String, String> keys = new HashMap<>();
        api.forEach((key, value) -> keys.put("millrace.tools.openapi.t." + key, value));
        ToolsConfig config = new SmallRyeConfigBuilder()
                .addDiscoveredConverters()
                .withMapping(ToolsConfig.class)
                .withDefaultValues(keys)
                .build()
                .getConfigMapping(ToolsConfig.class);
        OperatorTools tools = new OperatorTools(config, Secrets.NONE, InternalSecret.none());
        open.add(tools);
        return tools.tools().stream()
                .filter(tool -> tool.definition().name().equals("t__getX"))
                .findFirst()
                .orElseThrow();
    }
}
