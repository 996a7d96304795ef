package dev.millrace.agent.config;

import dev.millrace.agent.projection.TaskProjection;
import dev.millrace.engine.config.MachineHealth;
import jakarta.enterprise.inject.Produces;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;
import org.eclipse.microprofile.health.Readiness;

/** Readiness: the machine takes records, and questions are answered. Liveness: it has not stopped for good. */
public class AgentHealth {

    private static final String NAME = "task-machine";

    @Produces
    @Readiness
    HealthCheck ready(AgentRuntime runtime) {
        return MachineHealth.ready(NAME, runtime::notReady);
    }

    @Produces
    @Readiness
    HealthCheck projected(TaskProjection projection) {
        return () -> HealthCheckResponse.named("journal-projection")
                .status(projection.ready())
                .build();
    }

    @Produces
    @Liveness
    HealthCheck live(AgentRuntime runtime) {
        return MachineHealth.live(NAME, runtime::fatal);
    }
}
