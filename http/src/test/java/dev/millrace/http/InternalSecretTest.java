package dev.millrace.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.InternalSecret;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InternalSecretTest {

    private static final String SECRET = "0123456789abcdef0123456789abcdef";

    @Test
    @DisplayName("the secret is accepted, nothing else is, and where there is none everything is")
    void shouldAcceptItself() {
        InternalSecret secret = InternalSecret.of(SECRET);

        assertThat(secret.accepts(SECRET)).isTrue();
        for (String other : List.of("", SECRET + "0", SECRET.substring(1), SECRET.toUpperCase(Locale.ROOT))) {
            assertThat(secret.accepts(other)).as(other).isFalse();
        }
        assertThat(secret.accepts(null)).isFalse();
        assertThat(InternalSecret.none().accepts(null)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0123456789abcdef0123456789abcde",
                "0123456789abcdef 0123456789abcdef",
                "0123456789abcdef0123456789abcd\u00e9f"
            })
    @DisplayName("one that is too short, or cannot stand in a header, ends the start without being repeated")
    void shouldRefuseWhatIsTooShort(String secret) {
        assertThatThrownBy(() -> InternalSecret.of(secret))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("millrace.http.internal-secret: expected 32");
    }

    @Test
    @DisplayName("every question and every change that agent-service is asked for shows it")
    void shouldBeShown() throws Exception {
        List<String> shown = new CopyOnWriteArrayList<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            shown.add(String.valueOf(exchange.getRequestHeaders().getFirst(InternalSecret.HEADER)));
            exchange.sendResponseHeaders(200, 2);
            try (var out = exchange.getResponseBody()) {
                out.write(new byte[] {'{', '}'});
            }
        });
        server.start();
        try (AgentClient client = new AgentClient(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort()),
                Duration.ofSeconds(10),
                InternalSecret.of(SECRET))) {
            AgentClient.Answer asked = client.get(AgentClient.path("tasks"), Map.of());
            AgentClient.Reply changed = client.change("PUT", AgentClient.path("schedules", "s"), Map.of(), new byte[0]);

            assertThat(asked.found()).isTrue();
            assertThat(changed.done()).isTrue();
            assertThat(shown).containsExactly(SECRET, SECRET);
        } finally {
            server.stop(0);
        }
    }
}
