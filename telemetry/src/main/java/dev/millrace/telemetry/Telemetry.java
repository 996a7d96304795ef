package dev.millrace.telemetry;

import dev.millrace.schemas.Redaction;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where spans and metrics go: over OTLP to the endpoint that OpenTelemetry's own variables name ({@code
 * OTEL_EXPORTER_OTLP_ENDPOINT}, or that of traces or metrics alone), or nowhere. All its other variables count as well.
 * Safe for any thread; nothing here waits, but {@link #close}.
 */
public interface Telemetry extends AutoCloseable {

    /** Keeps nothing and sends nothing. */
    Telemetry OFF = new Telemetry() {
        @Override
        public boolean on() {
            return false;
        }

        @Override
        public void emit(FinishedSpan span) {}

        @Override
        public ModelCallMeter modelCalls() {
            return ModelCallMeter.NONE;
        }

        @Override
        public void close() {}
    };

    /** Whether spans go anywhere. */
    boolean on();

    /** Takes a span; one with the ids of an earlier one is the same one again. */
    void emit(FinishedSpan span);

    /** The metrics of requests to models. */
    ModelCallMeter modelCalls();

    /** Sends what is left, for a few seconds at most. */
    @Override
    void close();

    /**
     * As the environment says, and the system properties that the SDK takes in its place ({@code
     * otel.exporter.otlp.endpoint}, …).
     *
     * @param service what it is called unless {@code OTEL_SERVICE_NAME} says otherwise
     * @param redaction what no span says
     */
    static Telemetry fromEnvironment(String service, Redaction redaction) {
        return from(service, redaction, System.getenv(), System::getProperty);
    }

    /** As {@link #fromEnvironment}, by these variables and properties; the SDK itself still looks at the real ones. */
    static Telemetry from(
            String service,
            Redaction redaction,
            Map<String, String> environment,
            UnaryOperator<@Nullable String> properties) {
        Settings settings = new Settings(environment, properties);
        boolean all = settings.has("otel.exporter.otlp.endpoint");
        boolean traces = all || settings.has("otel.exporter.otlp.traces.endpoint");
        boolean metrics = all || settings.has("otel.exporter.otlp.metrics.endpoint");
        if ((!traces && !metrics) || settings.is("otel.sdk.disabled", "true")) {
            return OFF;
        }
        Logger logger = LoggerFactory.getLogger(Telemetry.class);
        if (settings.is("otel.exporter.otlp.protocol", "grpc")) {
            logger.warn(
                    "OTEL_EXPORTER_OTLP_PROTOCOL: expected http/protobuf, found grpc, which is not built in; no spans or"
                            + " metrics are sent");
            return OFF;
        }
        Telemetry otlp = OtlpTelemetry.start(service, redaction, traces, metrics);
        logger.info("Spans and metrics are sent over OTLP");
        return otlp;
    }

    /** Looks a setting up as the SDK does: properties first, then variables. */
    record Settings(Map<String, String> environment, UnaryOperator<@Nullable String> properties) {

        boolean has(String key) {
            return value(key) != null;
        }

        boolean is(String key, String value) {
            return value.equalsIgnoreCase(value(key));
        }

        private @Nullable String value(String key) {
            String property = properties.apply(key);
            String value = property != null
                    ? property
                    : environment.get(key.toUpperCase(java.util.Locale.ROOT).replace('.', '_'));
            return value == null || value.isBlank() ? null : value.strip();
        }
    }
}
