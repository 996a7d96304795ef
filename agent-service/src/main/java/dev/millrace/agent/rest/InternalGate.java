package dev.millrace.agent.rest;

import dev.millrace.http.client.InternalSecret;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Problem;
import jakarta.inject.Inject;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.Response;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jspecify.annotations.Nullable;

/**
 * Answers other services only, where they have a secret in common. It goes by what serves a request and not by its
 * path, which can be written in several ways.
 */
@Singleton
public class InternalGate {

    private static final String OURS = InternalGate.class.getPackageName() + '.';

    /** Made with the filters, which Quarkus makes before there is a configuration: so it comes later. */
    private final Provider<InternalSecret> secret;

    @Inject
    InternalGate(Provider<InternalSecret> secret) {
        this.secret = secret;
    }

    @ServerRequestFilter(priority = Priorities.AUTHENTICATION)
    @Nullable
    Response check(ContainerRequestContext request, @Nullable ResourceInfo resource) {
        boolean ours = resource != null
                && resource.getResourceClass() != null
                && resource.getResourceClass().getName().startsWith(OURS);
        if (!ours || secret.get().accepts(request.getHeaderString(InternalSecret.HEADER))) {
            return null;
        }
        Problem problem = Problem.of(
                403,
                "internal",
                "This is for the services of Millrace",
                "Expected the header " + InternalSecret.HEADER + " with the secret of this installation ("
                        + InternalSecret.KEY + "). The gateway answers everybody else.");
        return Response.status(problem.status())
                .type(Problem.MEDIA_TYPE)
                .entity(Json.writeText(
                        problem.toJson(request.getUriInfo().getRequestUri().getRawPath())))
                .build();
    }
}
