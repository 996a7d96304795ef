package dev.millrace.gateway.rest.problems;

import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.http.client.BadQueryException;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Problem;
import jakarta.inject.Inject;
import jakarta.inject.Provider;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Request;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Every way in which a request can fail, as a problem. */
public class ProblemMappers {
    private static final Logger LOGGER = LoggerFactory.getLogger(ProblemMappers.class);

    private static final Duration SOON = Duration.ofSeconds(1);

    private final Provider<AllowedMethods> allowed;

    @Inject
    ProblemMappers(Provider<AllowedMethods> allowed) {
        this.allowed = allowed;
    }

    @ServerExceptionMapper
    Response problem(ProblemException e, UriInfo uri) {
        return response(e.problem(), e.retryAfter(), uri);
    }

    @ServerExceptionMapper
    Response brokerUnavailable(BrokerUnavailableException e, UriInfo uri) {
        LOGGER.atWarn().setCause(e.getCause()).log("The brokers did not take or tell something in time");
        return response(
                Problem.of(
                        503,
                        "broker_unavailable",
                        "Kafka is not available",
                        "The Kafka brokers did not answer in time, so it is not certain whether this was accepted. Repeat the"
                                + " request with the same id (\"id\" or Idempotency-Key): nothing happens twice."),
                SOON,
                uri);
    }

    @ServerExceptionMapper
    Response tooLarge(EventTooLargeException e, UriInfo uri) {
        return response(
                Problem.of(
                        413,
                        "event_too_large",
                        "The event is too large",
                        e.getMessage()
                                + (e.nothingIsStored()
                                        ? " Nothing was accepted."
                                        : " Others of the same request may be accepted; a repeated request with the same ids does"
                                                + " nothing twice.")),
                null,
                uri);
    }

    @ServerExceptionMapper
    Response queryUnavailable(QueryUnavailableException e, UriInfo uri) {
        LOGGER.atDebug().setCause(e).log("A question about tasks could not be answered");
        return response(
                Problem.of(
                        503,
                        "query_unavailable",
                        "Tasks cannot be asked for now",
                        "This gateway accepts tasks, but cannot tell about them now: " + e.getMessage() + "."),
                SOON,
                uri);
    }

    @ServerExceptionMapper
    Response badQuery(BadQueryException e, UriInfo uri) {
        return response(
                Problem.of(400, "bad_parameter", "A parameter cannot be read", String.valueOf(e.getMessage())),
                null,
                uri);
    }

    /** What the framework itself refuses: unknown routes, methods and media types. */
    @ServerExceptionMapper
    Response framework(WebApplicationException e, UriInfo uri, HttpHeaders headers, Request request) {
        Response given = e.getResponse();
        if (given.getStatus() < 400 || given.hasEntity()) {
            return given;
        }
        String title = given.getStatusInfo().getReasonPhrase();
        Response response = response(
                new Problem(
                        given.getStatus(),
                        code(given.getStatus(), title),
                        title,
                        detail(given.getStatus(), uri, headers),
                        plain(given.getStatus(), uri.getRequestUri().getRawPath(), request.getMethod())),
                null,
                uri);
        return given.getStatus() == 405
                ? Response.fromResponse(response)
                        .header(
                                HttpHeaders.ALLOW,
                                allowed.get().at(uri.getRequestUri().getPath()))
                        .build()
                : response;
    }

    /** A bug. Its details are for the log, not for strangers. */
    @ServerExceptionMapper
    Response bug(RuntimeException e, UriInfo uri) {
        LOGGER.atError().setCause(e).log("A request failed for a reason that nobody expected");
        return response(
                Problem.of(
                        500,
                        "internal_error",
                        "Internal error",
                        "Something went wrong that should not; the log of the gateway has the details."),
                null,
                uri);
    }

    @ServerExceptionMapper
    Response interrupted(InterruptedException e, UriInfo uri) {
        return response(
                Problem.of(503, "shutting_down", "Shutting down", "This instance stops; ask another one."), SOON, uri);
    }

    public static Response response(Problem problem, @Nullable Duration retryAfter, UriInfo uri) {
        Response.ResponseBuilder response = Response.status(problem.status())
                .type(Problem.MEDIA_TYPE)
                .entity(Json.writeText(problem.toJson(uri.getRequestUri().getRawPath())));
        return retryAfter == null
                ? response.build()
                : response.header(HttpHeaders.RETRY_AFTER, Math.max(1, retryAfter.toSeconds()))
                        .build();
    }

    /** What was expected and found; {@code null} = no Content-Type. */
    public static String expectedJson(@Nullable String found) {
        return "Content-Type: expected application/json, found " + (found == null ? "none" : '"' + found + '"') + ".";
    }

    /** What clients of plain agent servers read of a route that there is not. */
    private static Map<String, Object> plain(int status, String path, String method) {
        if (status != 404 || path.startsWith("/v1")) {
            return Map.of();
        }
        Map<String, Object> plain = new LinkedHashMap<>();
        plain.put("error", "Not Found");
        plain.put("path", path);
        plain.put("method", method);
        return plain;
    }

    private static String code(int status, String title) {
        return switch (status) {
            case 404 -> "unknown_route";
            default -> title.toLowerCase(Locale.ROOT).replaceAll("[^a-z]+", "_");
        };
    }

    private static String detail(int status, UriInfo uri, HttpHeaders headers) {
        String path = uri.getRequestUri().getRawPath();
        return switch (status) {
            case 404 -> "There is nothing at " + path + ". The API is described at /openapi and /q/swagger-ui.";
            case 405 -> "This method is not possible at " + path + "; the header Allow names those that are.";
            case 406 -> "None of the media types that Accept names can be had at " + path + ".";
            // what takes anything else looks at it itself
            case 415 -> expectedJson(headers.getHeaderString(HttpHeaders.CONTENT_TYPE));
            default -> "The request to " + path + " cannot be done.";
        };
    }
}
