package dev.millrace.tools.secrets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.requests.Reply;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import java.net.URI;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("secrets by name, masked everywhere")
class SecretsTest {

    private final Secrets secrets = new Secrets(List.of(
            new Secrets.Secret("GIT", "tok/en+123$1", List.of("api.example.com", "*.git.example"), Set.of()),
            new Secrets.Secret("LOCAL", "tok/en", List.of("http://localhost"), Set.of())));

    @Test
    void shouldPutASecretInItsPlace() throws ToolException {
        assertThat(secrets.fill("Bearer {{secret:GIT}}", URI.create("https://api.example.com/x"), "default"))
                .isEqualTo("Bearer tok/en+123$1");
        assertThat(secrets.fill("{{ secret:GIT }}", URI.create("https://a.GIT.example"), "default"))
                .isEqualTo("tok/en+123$1");
        assertThat(secrets.fill("{{secret:LOCAL}}", URI.create("http://localhost:8080/"), "default"))
                .isEqualTo("tok/en");
        assertThat(secrets.fill("no secret {{secret}}", URI.create("http://evil.example"), "default"))
                .isEqualTo("no secret {{secret}}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://evil.example/",
                "http://api.example.com/",
                "https://api.example.com.evil.example/",
                "https://evil.example/api.example.com",
                "https://git.example/",
                "https://localhost/",
                "ftp://api.example.com/"
            })
    void shouldNotBeSentElsewhere(String url) {
        assertThatThrownBy(() -> secrets.fill("{{secret:GIT}}", URI.create(url), "default"))
                .isInstanceOfSatisfying(
                        ToolException.class, no -> assertThat(no.code()).isEqualTo("secret_refused"))
                .hasMessageNotContaining("tok/en");
    }

    @Test
    @DisplayName("a name may stand for another secret in each namespace, and one of another namespace is not there")
    void shouldBeApartByNamespace() throws ToolException {
        List<String> hosts = List.of("api.example.com");
        Secrets apart = new Secrets(List.of(
                new Secrets.Secret("GIT", "for all", hosts, Set.of()),
                new Secrets.Secret("GIT", "of acme", hosts, Set.of("acme", "acme-test")),
                new Secrets.Secret("PAY", "of globex", hosts, Set.of("globex"))));
        URI url = URI.create("https://api.example.com/");

        assertThat(apart.fill("{{secret:GIT}}", url, "acme")).isEqualTo("of acme");
        assertThat(apart.fill("{{secret:GIT}}+{{secret:PAY}}", url, "globex")).isEqualTo("for all+of globex");
        assertThat(apart.fill("{{secret:GIT}}", url, null)).isEqualTo("for all");
        for (String other : new String[] {"acme", "default", null}) {
            assertThatThrownBy(() -> apart.fill("{{secret:PAY}}", url, other))
                    .isInstanceOfSatisfying(
                            ToolException.class, no -> assertThat(no.code()).isEqualTo("unknown_secret"));
        }
        assertThat(apart.mask("of acme, of globex")).isEqualTo("[secret GIT], [secret PAY]");
    }

    @Test
    void shouldHaveOneOfANameInANamespace() {
        Secrets.Secret one = new Secrets.Secret("GIT", "1", List.of(), Set.of("acme"));
        Secrets.Secret two = new Secrets.Secret("GIT", "2", List.of(), Set.of("acme", "globex"));

        assertThatThrownBy(() -> new Secrets(List.of(one, two)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("one secret \"GIT\" for the namespace acme");
    }

    @Test
    void shouldKnowNoOthers() {
        assertThatThrownBy(() -> secrets.fill("{{secret:PATH}}", URI.create("https://api.example.com/"), "default"))
                .isInstanceOfSatisfying(
                        ToolException.class, no -> assertThat(no.code()).isEqualTo("unknown_secret"));
    }

    @Test
    void shouldMaskTheSecretInAllItsForms() {
        assertThat(secrets.mask("a tok/en+123$1 b tok/en c dG9rL2VuKzEyMyQx d tok%2Fen%2B123%241 e"))
                .isEqualTo("a [secret GIT] b [secret LOCAL] c [secret GIT] d [secret GIT] e");
        assertThat(secrets.maskAll(Map.of("tok/en", Arrays.asList("x tok/en", 1, null, true))))
                .isEqualTo(Map.of("[secret LOCAL]", Arrays.asList("x [secret LOCAL]", 1, null, true)));
        assertThat(new Secrets.Secret("A", "value-of-a", List.of(), Set.of())).hasToString("Secret[name=A]");
    }

    @Test
    @DisplayName("wherever in something larger it lies that is written in base64, such as user:secret")
    void shouldMaskTheSecretWithinBase64() {
        // given
        String secret = "tok/en+123$1";
        for (Base64.Encoder encoder :
                List.of(Base64.getEncoder(), Base64.getEncoder().withoutPadding(), Base64.getUrlEncoder())) {
            for (String user : List.of("", "u", "us", "use", "user", "user:")) {
                for (String more : List.of("", "a", "ab", "abc")) {
                    String text = user + secret + more;
                    // when
                    String masked = secrets.mask("Basic " + encoder.encodeToString(text.getBytes(UTF_8)));
                    // then
                    assertThat(masked).as(text).contains("[secret GIT]");
                    assertThat(masked.length()).as(text).isLessThanOrEqualTo("Basic [secret GIT]".length() + 14);
                }
            }
        }
    }

    @Test
    @DisplayName("neither a result nor an error of a tool tells a secret")
    void shouldMaskWhatToolsSay() throws InterruptedException {
        // given
        CallableTool echo = tool(false);
        CallableTool failing = tool(true);
        // when
        Reply result = Calls.executor(secrets, echo).handle(Calls.request("t", Map.of(), 0));
        Reply error = Calls.executor(secrets, failing).handle(Calls.request("t", Map.of(), 0));
        // then
        assertThat(String.valueOf(result)).contains("[secret GIT]").doesNotContain("tok/en");
        assertThat(String.valueOf(error)).contains("[secret GIT]").doesNotContain("tok/en");
    }

    @Test
    void shouldRefuseAnEmptySecret() {
        assertThatThrownBy(() -> new Secrets(List.of(new Secrets.Secret("A", "", List.of(), Set.of()))))
                .hasMessageContaining("millrace.tools.secrets.A");
    }

    private static CallableTool tool(boolean fails) {
        return new CallableTool() {
            @Override
            public ToolDefinition definition() {
                return new ToolDefinition(
                        "t",
                        "Tests.",
                        JsonObject.of(Map.of("type", "object")),
                        "tool",
                        1_000,
                        ToolDefinition.SideEffects.READ_ONLY);
            }

            @Override
            public Object call(JsonObject params, ToolContext context) {
                if (fails) {
                    throw new IllegalStateException("cannot use tok/en+123$1");
                }
                return Map.of("headers", Map.of("Authorization", "Bearer tok/en+123$1"));
            }
        };
    }
}
