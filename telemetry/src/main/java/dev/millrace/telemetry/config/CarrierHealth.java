package dev.millrace.telemetry.config;

import dev.millrace.telemetry.CarrierWatch;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;

/** Liveness of whatever service has this on its class path: its virtual threads get their turn. */
@Singleton
public class CarrierHealth {

    @Produces
    @Singleton
    CarrierWatch watch() {
        return CarrierWatch.ofThisProcess();
    }

    void close(@Disposes CarrierWatch watch) {
        watch.close();
    }

    // begun with the service, since a watch that is first asked when all stands has seen nothing
    void start(@Observes StartupEvent event, CarrierWatch watch) {
        watch.start();
    }

    @Produces
    @Liveness
    HealthCheck live(CarrierWatch watch) {
        return () -> HealthCheckResponse.named("virtual-threads")
                .status(watch.isTurning())
                .build();
    }
}
