package dev.millrace.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Problem;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Issue 14 item 4. */
class DoorkeeperTest {

    private static final String OWN = "localhost:8080";

    private final Doorkeeper closed = new Doorkeeper(List.of(), origin -> false);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost",
                "LOCALHOST:8080",
                "localhost.:8080",
                "127.0.0.1",
                "127.0.0.1:8080",
                "127.8.9.10:1",
                "[::1]",
                "[::1]:8080",
                "[0:0:0:0:0:0:0:1]:8080",
                "[::ffff:127.0.0.1]:8080"
            })
    @DisplayName("loopback names and addresses are always answered")
    void shouldAnswerAsThisMachine(String host) {
        assertThat(closed.refusal(from(host, null, null))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "evil.example",
                "evil.example:8080",
                "localhost.evil.example",
                "evil.localhost",
                "127.0.0.1.evil.example",
                "127.0.0.1:8080@evil.example",
                "evil.example#localhost",
                "localhost evil.example",
                "127.1",
                "0x7f.0.0.1",
                "2130706433",
                "999.0.0.1",
                "0.0.0.0:8080",
                "10.0.0.7:8080",
                "[::]:8080",
                "[fe80::1]",
                "[::1]evil.example",
                "localhost:8080:8080",
                "",
                " ",
                ":8080"
            })
    @DisplayName("a name that somebody had point here, and whatever is no name, is not")
    void shouldNotAnswerAsAnybodyElse(String host) {
        assertThat(codeAndStatus(closed, from(host, null, null))).isEqualTo("421 unknown_host");
    }

    @Test
    void shouldNotBeFooledByTheSecondOfTwoHosts() {
        assertThat(codeAndStatus(
                        closed,
                        new Caller(
                                "GET", "/v1/tasks", List.of(OWN, "evil.example"), List.of(), List.of(), "127.0.0.1")))
                .isEqualTo("421 unknown_host");
    }

    @Test
    @DisplayName("programs that send no Host are let in: no browser can leave it out")
    void shouldAnswerProgramsWithoutAHost() {
        assertThat(closed.refusal(new Caller("GET", "/q/health", List.of(), List.of(), List.of(), "127.0.0.1")))
                .isEmpty();
        assertThat(codeAndStatus(
                        closed,
                        new Caller("GET", "/q/health", List.of(), List.of("http://localhost"), List.of(), "127.0.0.1")))
                .isEqualTo("403 foreign_origin");
    }

    @Test
    void shouldAnswerAsTheAddressOfTheConnection() {
        assertThat(closed.refusal(
                        new Caller("GET", "/v1/tasks", List.of("10.0.0.7:8080"), List.of(), List.of(), "10.0.0.7")))
                .isEmpty();
        assertThat(closed.refusal(new Caller(
                        "GET", "/v1/tasks", List.of("[fd00::7]"), List.of(), List.of(), "fd00:0:0:0:0:0:0:7%eth0")))
                .isEmpty();
        assertThat(codeAndStatus(
                        closed, new Caller("GET", "/v1/tasks", List.of("10.0.0.8"), List.of(), List.of(), "10.0.0.7")))
                .isEqualTo("421 unknown_host");
    }

    @ParameterizedTest
    @CsvSource({
        "agent, true",
        "AGENT.:8081, true",
        "agents.example.org, true",
        "a.b.mill.example:443, true",
        "mill.example, false",
        "agent.evil.example, false",
        "xagent, false",
        "10.1.2.3:80, true",
        "localhost, true"
    })
    void shouldAnswerAsTheNamesThatAnOperatorGives(String host, boolean answered) {
        // given
        Doorkeeper open =
                new Doorkeeper(List.of("Agent", " agents.example.org", "*.mill.example", "10.1.2.3"), origin -> false);

        // then
        assertThat(open.refusal(from(host, null, null)).isEmpty()).isEqualTo(answered);
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
    @DisplayName(
            "a page of another origin reaches no method, reads included, whichever of the two headers its browser sends")
    void shouldRefuseForeignPages(String method) {
        for (String origin : List.of(
                "https://evil.example",
                "null",
                "http://localhost:3000",
                "http://localhost",
                "http://127.0.0.1:8080",
                "file://",
                "chrome-extension://abc",
                "http://localhost:8080.evil.example",
                "http://localhost:8080@evil.example",
                "http://evil.example/http://localhost:8080",
                "")) {
            assertThat(codeAndStatus(closed, of(method, "/v1/tasks", origin, null)))
                    .as(origin)
                    .isEqualTo("403 foreign_origin");
        }
        for (String site : List.of("cross-site", "same-site", "Cross-Site", "something-new", "")) {
            assertThat(codeAndStatus(closed, of(method, "/v1/tasks", null, site)))
                    .as(site)
                    .isEqualTo("403 foreign_origin");
        }
    }

    @Test
    @DisplayName("a page of this server, and an address that a person typed, is let in")
    void shouldLetOwnPagesIn() {
        assertThat(closed.refusal(of("POST", "/v1/tasks", "http://localhost:8080", "same-origin")))
                .isEmpty();
        assertThat(closed.refusal(of("GET", "/v1/tasks", null, "none"))).isEmpty();
        assertThat(closed.refusal(from("[::1]:8080", "http://[::1]:8080", "same-origin")))
                .isEmpty();
        assertThat(closed.refusal(from("localhost", "http://localhost:80", null)))
                .isEmpty();
        assertThat(new Doorkeeper(List.of("mill.example"), origin -> false)
                        .refusal(from("mill.example", "https://mill.example", "same-origin")))
                .as("behind a proxy that speaks HTTPS")
                .isEmpty();
    }

    @Test
    void shouldServeStaticFilesToEverybodyAndOnlyRead() {
        assertThat(closed.refusal(of("GET", "/q/swagger-ui", null, "cross-site")))
                .isEmpty();
        assertThat(closed.refusal(of("GET", "/q/swagger-ui/index.html", "https://a.example", "cross-site")))
                .isEmpty();
        assertThat(codeAndStatus(closed, of("POST", "/q/swagger-ui/", null, "cross-site")))
                .isEqualTo("403 foreign_origin");
        for (String path : List.of("/console", "/console/tasks/7", "/console/-/app.js", "/_static/lit/index.js")) {
            assertThat(closed.refusal(of("GET", path, null, "cross-site")))
                    .as(path)
                    .isEmpty();
        }
        for (String path : List.of("/q/swagger-uix", "/consolex", "/q/metrics", "/openapi", "/", "/internal/tasks")) {
            assertThat(codeAndStatus(closed, of("GET", path, null, "cross-site")))
                    .as(path)
                    .isEqualTo("403 foreign_origin");
        }
        assertThat(codeAndStatus(
                        closed,
                        new Caller(
                                "GET", "/q/swagger-ui/", List.of("evil.example"), List.of(), List.of(), "127.0.0.1")))
                .isEqualTo("421 unknown_host");
    }

    @ParameterizedTest
    @CsvSource({
        "https://a.example, true",
        "https://A.example, true",
        "https://x.b.example, true",
        "http://a.example, false",
        "https://a.example:8443, false",
        "https://xb.example, false",
        "null, false"
    })
    void shouldLetInTheOriginsThatAnOperatorNames(String origin, boolean letIn) {
        // given
        List<String> configured = List.of("https://a.example", "/https://.*\\.b\\.example/");
        Doorkeeper on = new Doorkeeper(List.of(), AllowedOrigins.of(true, Optional.of(configured)));
        Doorkeeper off = new Doorkeeper(List.of(), AllowedOrigins.of(false, Optional.of(configured)));

        // then
        assertThat(on.refusal(of("POST", "/v1/tasks", origin, "cross-site")).isEmpty())
                .isEqualTo(letIn);
        assertThat(off.refusal(of("POST", "/v1/tasks", origin, "cross-site"))).isPresent();
        assertThat(on.refusal(of("GET", "/v1/tasks", null, "cross-site")))
                .as("an image on one of its pages")
                .isPresent();
    }

    @Test
    void shouldTellWhatItFoundWithoutItsControlCharacters() {
        // when
        Problem problem = closed.refusal(from("evil\u001b[2J" + "x".repeat(400), null, null))
                .orElseThrow();

        // then
        assertThat(problem.detail()).contains("expected", "found \"evil?[2J").hasSizeLessThan(400);
    }

    private static Caller from(String host, @Nullable String origin, @Nullable String site) {
        return new Caller("POST", "/v1/tasks", List.of(host), listOf(origin), listOf(site), "127.0.0.1");
    }

    private static Caller of(String method, String path, @Nullable String origin, @Nullable String site) {
        return new Caller(method, path, List.of(OWN), listOf(origin), listOf(site), "127.0.0.1");
    }

    private static List<String> listOf(@Nullable String value) {
        return value == null ? List.of() : List.of(value);
    }

    private static String codeAndStatus(Doorkeeper doorkeeper, Caller caller) {
        return doorkeeper
                .refusal(caller)
                .map(problem -> problem.status() + " " + problem.code())
                .orElse("let in");
    }
}
