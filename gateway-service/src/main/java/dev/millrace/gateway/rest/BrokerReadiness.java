package dev.millrace.gateway.rest;

import dev.millrace.gateway.kafka.BrokerProbe;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponseBuilder;
import org.eclipse.microprofile.health.Readiness;

/**
 * Ready while events can be accepted. That tasks can be asked for is not part of it: this instance is then still of
 * use.
 */
@Readiness
@Singleton
public class BrokerReadiness implements HealthCheck {
    private final BrokerProbe probe;
    private final ShuttingDown shutdown;

    @Inject
    BrokerReadiness(BrokerProbe probe, ShuttingDown shutdown) {
        this.probe = probe;
        this.shutdown = shutdown;
    }

    @Override
    public HealthCheckResponse call() {
        BrokerProbe.Status status = probe.status();
        HealthCheckResponseBuilder response = HealthCheckResponse.named("gateway: Kafka");
        if (shutdown.hasBegun()) {
            return response.down().withData("reason", "it is shutting down").build();
        }
        return status.up()
                ? response.up().build()
                : response.down().withData("reason", status.detail()).build();
    }
}
