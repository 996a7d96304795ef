package dev.millrace.agent.rest;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.Problem;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;

/** How the routes of this package answer: a value as JSON, or a problem. What is asked and found is theirs. */
final class Answers {

    private Answers() {}

    static Response ok(Object json) {
        return of(200, json);
    }

    static Response of(int status, Object json) {
        return Response.status(status)
                .entity(Json.write(json))
                .type(MediaType.APPLICATION_JSON_TYPE)
                .build();
    }

    /** Of this request; what may be asked again soon says so. */
    static Response problem(Problem problem, UriInfo uri) {
        Response.ResponseBuilder response = Response.status(problem.status())
                .type(Problem.MEDIA_TYPE)
                .entity(Json.write(problem.toJson(uri.getRequestUri().getPath())));
        return problem.status() == 503 ? response.header("Retry-After", "1").build() : response.build();
    }
}
