package dev.millrace.telemetry.config;

import dev.millrace.schemas.Redaction;
import dev.millrace.telemetry.Telemetry;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.config.Config;

/** Makes the telemetry of this process. */
@Singleton
public class TelemetryWiring {

    @Produces
    @Singleton
    Telemetry telemetry(Config config, Redaction redaction) {
        return Telemetry.fromEnvironment(
                config.getOptionalValue("quarkus.application.name", String.class)
                        .orElse("millrace"),
                redaction);
    }

    @Produces
    @Singleton
    Redaction redaction(RedactionConfig config) {
        return Redaction.named(config.patterns());
    }

    void close(@Disposes Telemetry telemetry) {
        telemetry.close();
    }
}
