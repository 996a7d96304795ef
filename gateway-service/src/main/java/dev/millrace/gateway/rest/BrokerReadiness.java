package dev.millrace.gateway.rest;

import dev.millrace.gateway.kafka.BrokerProbe;
import dev.millrace.gateway.kafka.Memory;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponseBuilder;
import org.eclipse.microprofile.health.Readiness;

/** Ready while events can be accepted. That tasks can be asked for is not part of it: this instance is then still of use. */
@Readiness
@Singleton
public class BrokerReadiness implements HealthCheck {
    private final BrokerProbe probe;
    private final Memory memory;
    private final ShuttingDown shutdown;

    @Inject
    BrokerReadiness(BrokerProbe probe, Memory memory, ShuttingDown shutdown) {
        this.probe = probe;
        this.memory = memory;
        this.shutdown = shutdown;
    }

    @Override
    public HealthCheckResponse call() {
        BrokerProbe.Status status = probe.status();
        HealthCheckResponseBuilder response = HealthCheckResponse.named("gateway: Kafka");
        if (shutdown.hasBegun()) {
            return response.down().withData("reason", "it is shutting down").build();
        }
        if (!status.up()) {
            return response.down().withData("reason", status.detail()).build();
        }
        return memory.problem()
                .map(problem -> response.down().withData("reason", problem).build())
                .orElseGet(() -> response.up().build());
    }
}
