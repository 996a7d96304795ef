package dev.millrace.gateway.rest.streams;

import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.query.Quotas;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.schemas.Problem;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.vertx.http.runtime.CurrentVertxRequest;
import io.smallrye.mutiny.Multi;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.core.StreamingOutput;
import jakarta.ws.rs.sse.OutboundSseEvent;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The streams that are open: not more than are configured, of all clients and of each, with one budget of bytes. */
@Singleton
public class OpenStreams {
    private static final Duration LATER = Duration.ofSeconds(5);

    private final GatewayConfig.Stream config;
    private final CurrentVertxRequest current;
    /** Of the request that is being answered. */
    private final Access access;

    private final WriteBudget writes;
    /** By client address. Guarded by itself, like the sum. */
    private final Map<String, Integer> byClient = new HashMap<>();
    /** By namespace. Guarded by the map of clients. */
    private final Map<String, Integer> byTenant = new HashMap<>();

    private final Quotas quotas;

    private int open;

    @Inject
    OpenStreams(
            GatewayConfig config, CurrentVertxRequest current, Access access, Quotas quotas, MeterRegistry metrics) {
        this.quotas = quotas;
        this.current = current;
        this.access = access;
        this.config = config.stream();
        this.writes = new WriteBudget(config.stream().totalBuffer().asLongValue());
        Gauge.builder("millrace.gateway.streams", this, OpenStreams::count)
                .description("Streams that are open")
                .register(metrics);
        Gauge.builder("millrace.gateway.writes", writes, WriteBudget::held)
                .description("What is under way to clients of streams")
                .baseUnit("bytes")
                .register(metrics);
    }

    /**
     * A place that a stream has until it is closed; to close it twice does no harm.
     *
     * @param standing whether its client would still be let in
     */
    record Slot(Runnable onClose, BooleanSupplier standing, AtomicBoolean closed) implements AutoCloseable {

        Slot(Runnable onClose, BooleanSupplier standing) {
            this(onClose, standing, new AtomicBoolean());
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                onClose.run();
            }
        }
    }

    /**
     * A place for one more stream of this client.
     *
     * @param onClose is called once, when the place is given back
     * @throws ProblemException if there is none
     */
    private Slot slot(HttpServerRequest request, Runnable onClose) {
        String client = request.remoteAddress() == null
                ? ""
                : String.valueOf(request.remoteAddress().hostAddress());
        RoutingContext routing = current.getCurrent();
        String tenant = tenant(routing);
        int ofTenant = tenant.isEmpty() ? config.max() : quotas.streams(tenant).orElse(config.max());
        synchronized (byClient) {
            if (ofTenant < config.max() && byTenant.getOrDefault(tenant, 0) >= ofTenant) {
                throw full(429, "millrace.gateway.quotas." + tenant + ".streams", ofTenant, "of " + tenant);
            }
            if (byClient.getOrDefault(client, 0) >= config.maxPerClient()) {
                throw full(429, "millrace.gateway.stream.max-per-client", config.maxPerClient(), "from " + client);
            }
            if (open >= config.max()) {
                throw full(503, "millrace.gateway.stream.max", config.max(), "at this instance");
            }
            byClient.merge(client, 1, Integer::sum);
            byTenant.merge(tenant, 1, Integer::sum);
            open++;
        }
        Slot slot = new Slot(
                () -> {
                    synchronized (byClient) {
                        byClient.computeIfPresent(client, (address, count) -> count == 1 ? null : count - 1);
                        byTenant.computeIfPresent(tenant, (namespace, count) -> count == 1 ? null : count - 1);
                        open--;
                    }
                    onClose.run();
                },
                access.standing());
        if (routing != null) {
            // also when nobody ever began to write; addEndHandler would replace Quarkus' close handler, which ends the
            // stream
            routing.response().endHandler(ended -> slot.close());
        }
        return slot;
    }

    /** For whom a stream is: the namespace that it was permitted in; of all namespaces it is nobody's. */
    private String tenant(@Nullable RoutingContext routing) {
        String asked = routing == null ? null : routing.queryParams().get("namespace");
        String permitted = asked == null || asked.isBlank() ? access.place() : asked;
        return permitted == null ? "" : permitted;
    }

    /**
     * A stream as Quarkus takes it.
     *
     * @throws ProblemException if there is no place for it
     */
    Multi<OutboundSseEvent> open(SsePump.Source source, HttpServerRequest request) {
        Slot slot = slot(request, () -> {});
        request.response().putHeader("Cache-Control", "no-store").putHeader("X-Accel-Buffering", "no");
        return Multi.createFrom().publisher(new SsePump(source, config, writes, slot, request.response()::reset));
    }

    /**
     * A stream as the body of a response; the route itself names the headers.
     *
     * @param onClose is called once, when the stream is over
     * @throws ProblemException if there is no place for it
     */
    public StreamingOutput body(SsePump.Source source, HttpServerRequest request, Runnable onClose) {
        SseBody body = new SseBody();
        Slot slot = slot(request, () -> {
            onClose.run();
            body.end();
        });
        SsePump pump = new SsePump(source, config, writes, slot, request.response()::reset);
        return out -> body.write(pump, out);
    }

    private int count() {
        synchronized (byClient) {
            return open;
        }
    }

    private static ProblemException full(int status, String key, int limit, String whose) {
        return new ProblemException(
                new Problem(
                        status,
                        "too_many_streams",
                        "Too many streams",
                        "Streams " + whose + ": expected at most " + limit + " (" + key
                                + "), found as many open already.",
                        Map.of("limit", limit)),
                LATER);
    }
}
