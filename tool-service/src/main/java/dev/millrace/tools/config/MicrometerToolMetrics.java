package dev.millrace.tools.config;

import dev.millrace.tools.ToolMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;

/** Counts tool calls for Prometheus. */
record MicrometerToolMetrics(MeterRegistry meters) implements ToolMetrics {

    @Override
    public void called(String toolName, boolean success, Duration duration) {
        Timer.builder("millrace.tools.calls")
                .tag("toolName", toolName)
                .tag("outcome", success ? "completed" : "failed")
                .register(meters)
                .record(duration);
    }

    @Override
    public void retried(String toolName) {
        meters.counter("millrace.tools.retries", "toolName", toolName).increment();
    }
}
