package dev.millrace.gateway.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IdentityTest {

    @ParameterizedTest(name = "{0}: {2} in {1}")
    @CsvSource({
        "acme:read, acme, READ, true",
        "acme:read, acme, WRITE, false",
        "acme:read, rival, READ, false",
        "acme:read, *, READ, false",
        "acme:*, acme, ADMIN, true",
        "acme:*, *, ADMIN, false",
        "*:read, rival, READ, true",
        "*:read, *, READ, true",
        "*:read, rival, WRITE, false",
        "*:*, *, ADMIN, true",
        "a:b:read, a:b, READ, true",
        "acme:admin, acme, READ, false",
        "acme:read, Acme, READ, false",
        "acme:read, 'acme ', READ, false"
    })
    @DisplayName("a grant covers what it says and nothing beside it")
    void shouldCoverWhatItSays(String grant, String namespace, Permission permission, boolean may) {
        assertThat(new Identity("somebody", List.of(Grant.parse(grant))).may(namespace, permission))
                .isEqualTo(may);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", ":", "acme", "acme:", ":read", " :read", "acme:reed", "acme:READ", "acme:read ", "a/b:read"})
    @DisplayName("what is no grant is refused with what was expected and found")
    void shouldRefuseWhatIsNone(String text) {
        assertThatThrownBy(() -> Grant.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("such as acme:read")
                .hasMessageEndingWith('"' + text + '"');
    }

    @ParameterizedTest
    @CsvSource({
        "acme:read, acme",
        "acme:read acme:write, acme",
        "acme:read rival:read, default",
        "*:read, default",
        "*:* acme:read, default",
        "'', default"
    })
    @DisplayName("a request that names no namespace is for the only one that its caller has")
    void shouldBeAtHome(String grants, String home) {
        List<Grant> all = grants.isEmpty()
                ? List.of()
                : List.of(grants.split(" ", -1)).stream().map(Grant::parse).toList();

        assertThat(new Identity("somebody", all).home()).isEqualTo(home);
    }

    @Test
    @DisplayName("a principal of 256 characters is taken, and one more is not; nor is one that would break a log line")
    void shouldLimitThePrincipal() {
        assertThat(new Identity("x".repeat(256), List.of()).principal()).hasSize(256);
        for (String bad : List.of("x".repeat(257), "", " ", "a\nb", "a\u0000b", "\ud800")) {
            assertThatThrownBy(() -> new Identity(bad, List.of())).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
