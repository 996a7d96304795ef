package dev.millrace.gateway.rest;

import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.TraceContext;
import dev.millrace.telemetry.FinishedSpan;
import dev.millrace.telemetry.Telemetry;
import dev.millrace.telemetry.TelemetryKeys;
import jakarta.inject.Inject;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ResourceInfo;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jboss.resteasy.reactive.server.ServerResponseFilter;
import org.jspecify.annotations.Nullable;

/**
 * A span for each request, in the caller's trace if it names one, and the trace context of that span for whatever the
 * request leads to: the events that it becomes carry it on. Does nothing where telemetry is off, so that a caller's
 * trace context goes into the events as it came.
 */
@Singleton
public class RequestTracing {

    private static final String BEGUN = RequestTracing.class.getName();
    private static final int SERVER_ERROR = 500;

    /** Made with the filters, which Quarkus makes before there is a configuration: so it comes later. */
    private final Provider<Telemetry> telemetry;

    @Inject
    RequestTracing(Provider<Telemetry> telemetry) {
        this.telemetry = telemetry;
    }

    private record Begun(
            Instant at, TraceContext place, @Nullable String parentSpanId) {}

    @ServerRequestFilter(preMatching = true)
    void begin(ContainerRequestContext request) {
        if (!telemetry.get().on() || request.getUriInfo().getPath().startsWith("/q/")) {
            return;
        }
        TraceContext caller = TraceContext.parse(request.getHeaderString(EventCodec.TRACEPARENT));
        String random = Ids.hash(Ids.random());
        String spanId = random.substring(0, 16);
        TraceContext place =
                caller == null ? new TraceContext(random.substring(16, 48), spanId, true) : caller.at(spanId);
        request.setProperty(BEGUN, new Begun(Instant.now(), place, caller == null ? null : caller.spanId()));
        request.getHeaders().putSingle(EventCodec.TRACEPARENT, place.header());
    }

    @ServerResponseFilter
    void end(ContainerRequestContext request, ContainerResponseContext response, @Nullable ResourceInfo resource) {
        if (!(request.getProperty(BEGUN) instanceof Begun begun)) {
            return;
        }
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put(TelemetryKeys.HTTP_METHOD, request.getMethod());
        attributes.put(TelemetryKeys.URL_PATH, request.getUriInfo().getPath());
        attributes.put(TelemetryKeys.HTTP_STATUS, (long) response.getStatus());
        String route = route(resource);
        if (route != null) {
            attributes.put(TelemetryKeys.HTTP_ROUTE, route);
        }
        telemetry
                .get()
                .emit(new FinishedSpan(
                        route == null ? request.getMethod() : request.getMethod() + " " + route,
                        FinishedSpan.Kind.SERVER,
                        begun.place(),
                        begun.parentSpanId(),
                        begun.at(),
                        Instant.now(),
                        attributes,
                        response.getStatus() >= SERVER_ERROR ? Integer.toString(response.getStatus()) : null));
    }

    /** The path with names in place of values; null if nothing serves it. */
    private static @Nullable String route(@Nullable ResourceInfo resource) {
        if (resource == null || resource.getResourceClass() == null || resource.getResourceMethod() == null) {
            return null;
        }
        Path whole = resource.getResourceClass().getAnnotation(Path.class);
        Path part = resource.getResourceMethod().getAnnotation(Path.class);
        String route = "/" + (whole == null ? "" : whole.value()) + "/" + (part == null ? "" : part.value());
        String clean = route.replaceAll("/{2,}", "/");
        return clean.length() > 1 && clean.endsWith("/") ? clean.substring(0, clean.length() - 1) : clean;
    }
}
