package dev.millrace.telemetry;

import dev.millrace.schemas.Redaction;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.LongHistogram;
import io.opentelemetry.api.metrics.LongUpDownCounter;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The SDK, as its variables configure it; loaded only if it is wanted. */
final class OtlpTelemetry implements Telemetry, ModelCallMeter {

    private static final String SCOPE = "dev.millrace";
    private static final long CLOSE_SECONDS = 3;
    private static final List<Double> SECONDS =
            List.of(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92);
    private static final List<Long> TOKENS = List.of(
            1L, 4L, 16L, 64L, 256L, 1024L, 4096L, 16384L, 65536L, 262144L, 1048576L, 4194304L, 16777216L, 67108864L);

    private final OpenTelemetrySdk sdk;
    private final DerivedIds ids;
    private final Redaction redaction;
    private final Tracer tracer;
    private final LongHistogram tokens;
    private final DoubleHistogram duration;
    private final DoubleHistogram firstChunk;
    private final LongUpDownCounter running;

    private OtlpTelemetry(OpenTelemetrySdk sdk, DerivedIds ids, Redaction redaction) {
        this.sdk = sdk;
        this.ids = ids;
        this.redaction = redaction;
        this.tracer = sdk.getTracer(SCOPE);
        Meter meter = sdk.getMeter(SCOPE);
        this.tokens = meter.histogramBuilder("gen_ai.client.token.usage")
                .ofLongs()
                .setUnit("{token}")
                .setDescription("Number of input and output tokens used")
                .setExplicitBucketBoundariesAdvice(TOKENS)
                .build();
        this.duration = seconds(meter, "gen_ai.client.operation.duration", "Duration of a request to a model");
        this.firstChunk = seconds(
                meter,
                "gen_ai.client.operation.time_to_first_chunk",
                "From a request to the first piece of its streamed reply");
        this.running = meter.upDownCounterBuilder("millrace.llm.requests.active")
                .setUnit("{request}")
                .setDescription("Requests to models that are on their way")
                .build();
    }

    private static DoubleHistogram seconds(Meter meter, String name, String description) {
        return meter.histogramBuilder(name)
                .setUnit("s")
                .setDescription(description)
                .setExplicitBucketBoundariesAdvice(SECONDS)
                .build();
    }

    static Telemetry start(String service, Redaction redaction, boolean traces, boolean metrics) {
        DerivedIds ids = new DerivedIds();
        Map<String, String> defaults = new HashMap<>();
        defaults.put("otel.service.name", service);
        defaults.put("otel.exporter.otlp.protocol", "http/protobuf");
        defaults.put("otel.logs.exporter", "none");
        if (!traces) {
            defaults.put("otel.traces.exporter", "none");
        }
        if (!metrics) {
            defaults.put("otel.metrics.exporter", "none");
        }
        OpenTelemetrySdk sdk = AutoConfiguredOpenTelemetrySdk.builder()
                .disableShutdownHook()
                .setServiceClassLoader(OtlpTelemetry.class.getClassLoader())
                .addPropertiesSupplier(() -> defaults)
                .addTracerProviderCustomizer((provider, config) -> provider.setIdGenerator(ids))
                .build()
                .getOpenTelemetrySdk();
        return new OtlpTelemetry(sdk, ids, redaction);
    }

    @Override
    public boolean on() {
        return true;
    }

    @Override
    public void emit(FinishedSpan finished) {
        Context context = Context.root();
        if (finished.parentSpanId() != null) {
            context = context.with(Span.wrap(SpanContext.createFromRemoteParent(
                    finished.place().traceId(),
                    finished.parentSpanId(),
                    finished.place().sampled() ? TraceFlags.getSampled() : TraceFlags.getDefault(),
                    TraceState.getDefault())));
        } else if (!finished.place().sampled()) {
            return; // whoever began the trace does not keep it, and there is nobody above to say so
        }
        SpanBuilder builder = tracer.spanBuilder(redaction.text(finished.name()))
                .setParent(context)
                .setSpanKind(
                        switch (finished.kind()) {
                            case INTERNAL -> SpanKind.INTERNAL;
                            case SERVER -> SpanKind.SERVER;
                            case CLIENT -> SpanKind.CLIENT;
                        })
                .setStartTimestamp(finished.start());
        finished.attributes().forEach((name, value) -> set(builder, name, value));
        ids.set(finished.place().traceId(), finished.place().spanId());
        Span span;
        try {
            span = builder.startSpan();
        } finally {
            ids.clear();
        }
        if (finished.errorType() != null) {
            span.setAttribute(TelemetryKeys.ERROR_TYPE, finished.errorType());
            span.setStatus(StatusCode.ERROR);
        }
        span.end(finished.end());
    }

    private void set(SpanBuilder span, String name, Object value) {
        switch (value) {
            case String text -> span.setAttribute(name, redaction.content(text));
            case Boolean bool -> span.setAttribute(name, bool);
            case Double number -> span.setAttribute(name, number);
            case Number number -> span.setAttribute(name, number.longValue());
            case List<?> list ->
                span.setAttribute(
                        AttributeKey.stringArrayKey(name),
                        list.stream()
                                .map(element -> redaction.content(String.valueOf(element)))
                                .toList());
            default -> span.setAttribute(name, redaction.content(value.toString()));
        }
    }

    @Override
    public ModelCallMeter modelCalls() {
        return this;
    }

    @Override
    public void began() {
        running.add(1);
    }

    @Override
    public void ended(Request request) {
        running.add(-1);
        AttributesBuilder builder = Attributes.builder()
                .put(TelemetryKeys.OPERATION_NAME, TelemetryKeys.CHAT)
                .put(TelemetryKeys.PROVIDER_NAME, request.provider());
        put(builder, TelemetryKeys.REQUEST_MODEL, request.requestModel());
        put(builder, TelemetryKeys.RESPONSE_MODEL, request.responseModel());
        Attributes common = builder.build();
        if (request.inputTokens() + request.outputTokens() > 0) {
            tokens.record(request.inputTokens(), type(common, "input"));
            tokens.record(request.outputTokens(), type(common, "output"));
        }
        AttributesBuilder outcome = common.toBuilder();
        put(outcome, TelemetryKeys.ERROR_TYPE, request.errorType());
        duration.record(inSeconds(request.duration()), outcome.build());
        if (request.firstChunk() != null) {
            firstChunk.record(inSeconds(request.firstChunk()), common);
        }
    }

    private static Attributes type(Attributes common, String type) {
        return common.toBuilder().put(TelemetryKeys.TOKEN_TYPE, type).build();
    }

    private static void put(AttributesBuilder attributes, String name, @Nullable String value) {
        if (value != null) {
            attributes.put(name, value);
        }
    }

    private static double inSeconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    @Override
    public void close() {
        var unused = sdk.shutdown().join(CLOSE_SECONDS, TimeUnit.SECONDS);
    }
}
