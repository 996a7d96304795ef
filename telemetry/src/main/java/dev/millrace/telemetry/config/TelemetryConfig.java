package dev.millrace.telemetry.config;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;

/** What goes into spans. Where they go is said by OpenTelemetry's own variables, see {@code docs/observability.md}. */
@ConfigMapping(prefix = "millrace.telemetry")
public interface TelemetryConfig {

    /** Whether prompts, replies, arguments and results of tools go into spans. */
    @WithDefault("false")
    boolean content();
}
