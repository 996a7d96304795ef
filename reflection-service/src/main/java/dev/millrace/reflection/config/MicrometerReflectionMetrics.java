package dev.millrace.reflection.config;

import dev.millrace.reflection.topology.ReflectionMetrics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** Counts reflections by how they ended. */
final class MicrometerReflectionMetrics implements ReflectionMetrics {

    private final Counter completed;
    private final Counter failed;

    MicrometerReflectionMetrics(MeterRegistry registry) {
        completed = counter(registry, "completed");
        failed = counter(registry, "failed");
    }

    @Override
    public void completed() {
        completed.increment();
    }

    @Override
    public void failed() {
        failed.increment();
    }

    private static Counter counter(MeterRegistry registry, String outcome) {
        return Counter.builder("millrace.reflection.reflections")
                .description("Reflections that have ended")
                .tag("outcome", outcome)
                .register(registry);
    }
}
