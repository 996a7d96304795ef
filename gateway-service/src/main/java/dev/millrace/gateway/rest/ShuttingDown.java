package dev.millrace.gateway.rest;

import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.gateway.rest.problems.ProblemMappers;
import dev.millrace.schemas.Problem;
import io.quarkus.runtime.ShutdownDelayInitiatedEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Duration;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the gateway does first when its process is told to stop: it takes no new input and no new listeners, and lets
 * those that listen go, with the hint to come back soon. Then Quarkus waits for the requests in flight ({@code
 * quarkus.shutdown.timeout}), and only after that anything is closed.
 */
@Singleton
public class ShuttingDown {
    private static final Logger LOGGER = LoggerFactory.getLogger(ShuttingDown.class);
    private static final Duration SOON = Duration.ofSeconds(1);

    private final Provider<JournalTail> tail;
    private volatile boolean stopping;

    /** Made with the filters, which Quarkus makes before there is a configuration: so the tail comes later. */
    @Inject
    ShuttingDown(Provider<JournalTail> tail) {
        this.tail = tail;
    }

    void begin(@Observes ShutdownDelayInitiatedEvent event) {
        LOGGER.info("The gateway takes nothing new and finishes what is in flight");
        stopping = true;
        tail.get().close();
    }

    /** Whether it has begun. */
    boolean hasBegun() {
        return stopping;
    }

    @ServerRequestFilter
    @Nullable
    Response refuse(ContainerRequestContext request, UriInfo uri) {
        if (!stopping || !uri.getRequestUri().getPath().startsWith("/v1/") || onlyAsks(request)) {
            return null;
        }
        return ProblemMappers.response(
                Problem.of(
                        503,
                        "shutting_down",
                        "Shutting down",
                        "This instance stops and takes nothing new; ask another one, or again soon."),
                SOON,
                uri);
    }

    private static boolean onlyAsks(ContainerRequestContext request) {
        String accept = request.getHeaderString(HttpHeaders.ACCEPT);
        return request.getMethod().equals("GET") && (accept == null || !accept.contains(MediaType.SERVER_SENT_EVENTS));
    }
}
