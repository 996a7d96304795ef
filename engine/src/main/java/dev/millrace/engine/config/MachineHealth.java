package dev.millrace.engine.config;

import java.util.Optional;
import java.util.function.Supplier;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;

/** What a machine tells about its health. */
public final class MachineHealth {

    private MachineHealth() {}

    /** Readiness: it takes records; if not, why, for people. */
    public static HealthCheck ready(String name, Supplier<Optional<String>> notReady) {
        return () -> notReady.get()
                .map(why -> HealthCheckResponse.named(name)
                        .down()
                        .withData("waitingFor", why)
                        .build())
                .orElseGet(() -> HealthCheckResponse.up(name));
    }

    /** Liveness: it has not stopped for good. */
    public static HealthCheck live(String name, Supplier<Optional<Throwable>> fatal) {
        return () -> fatal.get()
                .map(why -> HealthCheckResponse.named(name)
                        .down()
                        .withData("stoppedBy", why.toString())
                        .build())
                .orElseGet(() -> HealthCheckResponse.up(name));
    }
}
