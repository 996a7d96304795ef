package dev.millrace.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Redaction;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TelemetryTest {

    private static Telemetry with(Map<String, String> environment) {
        return Telemetry.from("test", Redaction.NONE, environment, key -> null);
    }

    @Test
    void shouldBeOffUnlessAnEndpointIsNamed() {
        assertThat(with(Map.of())).isSameAs(Telemetry.OFF);
        assertThat(with(Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", " "))).isSameAs(Telemetry.OFF);
        assertThat(with(Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9", "OTEL_SDK_DISABLED", "true")))
                .isSameAs(Telemetry.OFF);
        assertThat(with(Map.of(
                        "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")))
                .isSameAs(Telemetry.OFF);
    }

    @Test
    void shouldBeOnIfOneIs() {
        try (Telemetry telemetry = with(Map.of("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:9/v1/traces"))) {
            assertThat(telemetry.on()).isTrue();
        }
    }
}
