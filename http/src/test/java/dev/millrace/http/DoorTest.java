package dev.millrace.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DoorTest {

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, true",
        "127.0.0.2, true",
        "localhost, true",
        "::1, true",
        "0:0:0:0:0:0:0:1, true",
        "0.0.0.0, false",
        "::, false",
        "10.0.0.7, false",
        "agent, false",
        "'', false"
    })
    void shouldKnowWhatIsOpenToThisMachineOnly(String host, boolean loopback) {
        assertThat(Loopback.is(host)).isEqualTo(loopback);
    }

    @Test
    void shouldSayWhatIsOpenToWhom() {
        assertThat(Door.opened("0.0.0.0", 8081, List.of("agent")))
                .isEqualTo(
                        "listens on 0.0.0.0:8081 (quarkus.http.host): whoever can connect there may do all that its HTTP API"
                                + " lets them do without a login (docs/security.md). Besides the address itself it answers"
                                + " for: localhost, agent (millrace.http.allowed-hosts)");
    }
}
