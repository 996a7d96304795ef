package dev.millrace.agent.config;

import dev.millrace.agent.kafka.SharedRates;
import dev.millrace.agent.projection.TaskProjection;
import dev.millrace.engine.config.MachineHealth;
import jakarta.enterprise.inject.Produces;
import java.util.stream.Stream;
import org.eclipse.microprofile.health.HealthCheck;
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
        return MachineHealth.ready("journal-projection", projection::notReady);
    }

    @Produces
    @Readiness
    HealthCheck reading(AgentRuntime runtime, SharedRates rates) {
        return MachineHealth.ready(
                "agent-readers",
                () -> Stream.concat(runtime.readers().stream(), rates.reader().stream())
                        .flatMap(reader -> reader.problem().stream())
                        .reduce((one, other) -> one + "; " + other));
    }

    @Produces
    @Liveness
    HealthCheck live(AgentRuntime runtime) {
        return MachineHealth.live(NAME, runtime::fatal);
    }
}
