package dev.millrace.knowledge.rest;

import dev.millrace.http.client.InternalSecret;
import dev.millrace.schemas.Problem;
import jakarta.inject.Inject;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.Response;
import java.util.Set;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jspecify.annotations.Nullable;

/** Answers other services only, where they have a secret in common; by what serves a request, not by its path. */
@Singleton
public class KnowledgeGate {

    private static final Set<Class<?>> OURS = Set.of(KnowledgeResource.class, GraphResource.class);

    /** Made with the filters, which Quarkus makes before there is a configuration: so it comes later. */
    private final Provider<InternalSecret> secret;

    @Inject
    KnowledgeGate(Provider<InternalSecret> secret) {
        this.secret = secret;
    }

    @ServerRequestFilter(priority = Priorities.AUTHENTICATION)
    @Nullable
    Response check(ContainerRequestContext request, @Nullable ResourceInfo resource) {
        boolean ours = resource != null && OURS.contains(resource.getResourceClass());
        if (!ours || secret.get().accepts(request.getHeaderString(InternalSecret.HEADER))) {
            return null;
        }
        return KnowledgeResource.problem(
                Problem.of(
                        403,
                        "internal",
                        "This is for the services of Millrace",
                        "Expected the header " + InternalSecret.HEADER + " with the secret of this installation ("
                                + InternalSecret.KEY + "). The gateway answers everybody else."),
                request.getUriInfo());
    }
}
