package dev.millrace.agent.config;

import dev.millrace.agent.projection.TaskProjection;
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
        return () -> runtime.notReady()
                .map(why -> HealthCheckResponse.named(NAME)
                        .down()
                        .withData("waitingFor", why)
                        .build())
                .orElseGet(() -> HealthCheckResponse.up(NAME));
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
        return () -> runtime.fatal()
                .map(why -> HealthCheckResponse.named(NAME)
                        .down()
                        .withData("stoppedBy", why.toString())
                        .build())
                .orElseGet(() -> HealthCheckResponse.up(NAME));
    }
}
