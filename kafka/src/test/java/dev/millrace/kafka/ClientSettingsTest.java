package dev.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClientSettingsTest {

    @Test
    void shouldOverrideByWhatComesLater() {
        ClientSettings settings = ClientSettings.at("a:1")
                .with("linger.ms", 5)
                .withDefault("linger.ms", 7)
                .withDefault("acks", "all")
                .with(ClientSettings.at("b:2"))
                .as("me");

        assertThat(settings.values())
                .isEqualTo(Map.of("bootstrap.servers", "b:2", "linger.ms", 5, "acks", "all", "client.id", "me"));
    }

    @Test
    void shouldStayAsTheyAre() {
        Map<String, Object> given = new HashMap<>(Map.of("acks", "all"));
        ClientSettings settings = new ClientSettings(given);

        given.put("acks", "0");
        ClientSettings other = settings.with("acks", "1");

        assertThat(settings.values()).isEqualTo(Map.of("acks", "all"));
        assertThat(other.values()).isEqualTo(Map.of("acks", "1"));
    }

    @Test
    void shouldHaveNoLoneRecordWaitAndNoneGetLost() {
        assertThat(ClientSettings.at("a:1").with("linger.ms", 100).prompt("me").values())
                .containsEntry("linger.ms", 0)
                .containsEntry("acks", "all")
                .containsEntry("enable.idempotence", true)
                .containsEntry("client.id", "me");
    }

    @Test
    void shouldNotSayPasswords() {
        assertThat(ClientSettings.at("a:1").with("sasl.jaas.config", "password=\"hunter2\""))
                .hasToString("ClientSettings[bootstrap.servers, sasl.jaas.config]");
    }
}
