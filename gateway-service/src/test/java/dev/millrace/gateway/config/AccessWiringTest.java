package dev.millrace.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.gateway.access.ApiKey;
import dev.millrace.gateway.access.ApiKeyFile;
import dev.millrace.gateway.access.Login;
import dev.millrace.testing.Configured;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Nothing is open to others by mistake: what makes no sense ends the start, and says which key is meant. */
class AccessWiringTest {

    private static final String AUTH = "millrace.gateway.auth";
    private static final String HOST = "quarkus.http.host";

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.8.9.10", "localhost", "::1"})
    @DisplayName("on this machine alone nobody has to log in, if nothing is said")
    void shouldBeOpenOnLoopback(String host) {
        assertThat(login(Map.of(HOST, host)).of(List.of())).isInstanceOf(Login.Open.class);
        assertThat(login(Map.of()).of(List.of())).isInstanceOf(Login.Open.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "::", "192.168.1.7", "10.0.0.1", "gateway.example"})
    @DisplayName("for other machines it has to be said how callers log in, or that they need not")
    void shouldNotBeOpenToOthersByMistake(String host) {
        assertThatThrownBy(() -> login(Map.of(HOST, host)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith(AUTH + ": the gateway listens on " + host)
                .hasMessageContaining("expected key or jwt, or none");
        assertThat(login(Map.of(HOST, host, AUTH, "none")).of(List.of())).isInstanceOf(Login.Open.class);
    }

    @ParameterizedTest
    @CsvSource({
        "millrace.gateway.auth-keys-file, keys.json",
        "millrace.gateway.auth-issuer, https://id.example",
        "millrace.gateway.auth-jwks, https://id.example/keys"
    })
    @DisplayName("keys or an issuer that would not count are an error, whether nothing is said or none")
    void shouldNotPassOverKeys(String key, String value) {
        for (Map<String, String> said : List.of(Map.of(key, value), Map.of(key, value, AUTH, "none"))) {
            assertThatThrownBy(() -> login(said))
                    .isInstanceOf(ConfigurationException.class)
                    .hasMessageContaining("expected key or jwt, since there are keys or an issuer");
        }
    }

    @Test
    @DisplayName("with key there is a file of keys that can be read, and who has none of them is not let in")
    void shouldAskForKeys() throws Exception {
        Path file = folder.resolve("keys.json");
        assertThatThrownBy(() -> login(Map.of(AUTH, "key")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("-keys-file: expected a file of keys");
        assertThatThrownBy(() -> login(Map.of(AUTH, "key", "millrace.gateway.auth-keys-file", file.toString())))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("-keys-file: cannot be read");
        ApiKey.Fresh key = ApiKey.draw("ci", List.of("acme:read"), Instant.now(), null);
        new ApiKeyFile(file).change(none -> List.of(key.kept()));

        Login login = login(Map.of(AUTH, "key", HOST, "0.0.0.0", "millrace.gateway.auth-keys-file", file.toString()));

        assertThat(login.of(List.of())).isInstanceOf(Login.Missing.class);
        assertThat(login.of(List.of("Bearer " + key.secret()))).isInstanceOfSatisfying(Login.Known.class, known -> {
            assertThat(known.identity().principal()).isEqualTo("ci");
            assertThat(known.means()).isEqualTo(Login.Means.KEY);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "millrace.gateway.auth-jwks, -jwks: expected for millrace.gateway.auth=jwt",
        "millrace.gateway.auth-issuer, -issuer: expected for millrace.gateway.auth=jwt",
        "millrace.gateway.auth-audience, -audience: expected for millrace.gateway.auth=jwt"
    })
    @DisplayName("with jwt all is said that a token is held to")
    void shouldAskForAllOfAnIssuer(String missing, String message) {
        Map<String, String> said = issuer("https://id.example/keys");
        assertThat(login(said).of(List.of())).isInstanceOf(Login.Missing.class);
        said.remove(missing);

        assertThatThrownBy(() -> login(said))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"http://id.example/keys", "file:///etc/keys", "https:///keys", "http://127.0.0.1.example/keys"})
    @DisplayName("public keys are not fetched where anybody on the way could put others in their place")
    void shouldNotTrustKeysInTheClear(String jwks) {
        assertThatThrownBy(() -> login(issuer(jwks)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("-jwks: expected an https URL");
        assertThat(login(issuer("http://127.0.0.1:8099/keys")).of(List.of())).isInstanceOf(Login.Missing.class);
    }

    private static Map<String, String> issuer(String jwks) {
        return new HashMap<>(Map.of(
                AUTH,
                "jwt",
                HOST,
                "0.0.0.0",
                "millrace.gateway.auth-jwks",
                jwks,
                "millrace.gateway.auth-issuer",
                "https://id.example",
                "millrace.gateway.auth-audience",
                "millrace"));
    }

    private static Login login(Map<String, String> properties) {
        return new AccessWiring()
                .login(
                        Configured.of(GatewayConfig.class, properties),
                        new SmallRyeConfigBuilder()
                                .withSources(new PropertiesConfigSource(properties, "test", 100))
                                .build());
    }
}
