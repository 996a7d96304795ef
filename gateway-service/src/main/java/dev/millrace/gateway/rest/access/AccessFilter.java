package dev.millrace.gateway.rest.access;

import dev.millrace.gateway.access.AuditEntry;
import dev.millrace.gateway.access.Grant;
import dev.millrace.gateway.access.Identity;
import dev.millrace.gateway.access.Login;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.kafka.AuditLog;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.Problem;
import io.vertx.core.MultiMap;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.RoutingContext;
import jakarta.inject.Inject;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.HttpHeaders;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jboss.resteasy.reactive.server.ServerResponseFilter;
import org.jspecify.annotations.Nullable;

/**
 * Lets a request of the gateway through to its route if its caller may make it. A route that does not say what it needs
 * is one that nobody may call.
 */
@Singleton
public class AccessFilter {

    private static final String NAMESPACE = "namespace";
    private static final String CHALLENGE = AccessFilter.class.getName();
    private static final String OURS = "dev.millrace.gateway.";
    private static final String ASKED = Asked.class.getName();
    private static final String REFUSAL = AuditEntry.class.getName();
    private static final Set<String> READING = Set.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS);
    /** The longest path that is kept, in characters. */
    private static final int MAX_PATH = 1_000;

    private static final Duration SOON = Duration.ofSeconds(5);

    /** Made with the filters, which Quarkus makes before there is a configuration: so they come later. */
    private final Provider<Login> login;

    private final Provider<Access> access;
    private final Provider<AuditLog> audit;
    private final Map<Method, Route> routes = new ConcurrentHashMap<>();

    @Inject
    AccessFilter(Provider<Login> login, Provider<Access> access, Provider<AuditLog> audit) {
        this.login = login;
        this.access = access;
        this.audit = audit;
    }

    /**
     * A request that somebody has to log in for.
     *
     * @param caller {@code null} = nobody who is known
     */
    private record Asked(Route route, Login.@Nullable Known caller) {}

    /**
     * What a route says of itself.
     *
     * @param needs {@code null} = it is open to all
     * @param ofAll whether a request without a namespace is for all of them
     */
    private record Route(@Nullable Needs needs, boolean inPath, boolean inQuery, boolean ofAll) {

        /** Whether only the body says where something is done. */
        boolean inBody() {
            return needs != null && needs.in() == Needs.Scope.BODY;
        }

        /** What the audit log says of where something is done; {@code null} = that is in the body. */
        @Nullable
        String place(ContainerRequestContext request, RoutingContext context) {
            return needs == null || inBody()
                    ? null
                    : needs.in() == Needs.Scope.EVERYWHERE
                            ? Grant.ALL
                            : inPath
                                    ? request.getUriInfo().getPathParameters().getFirst(NAMESPACE)
                                    : inQuery ? context.queryParams().get(NAMESPACE) : null;
        }

        static Route of(Method method) {
            Needs needs = method.getAnnotation(Needs.class);
            if ((needs == null) == (method.getAnnotation(OpenToAll.class) == null)) {
                throw new IllegalStateException(method + " does not say what its callers need");
            }
            List<Parameter> parameters = Arrays.asList(method.getParameters());
            boolean inPath = parameters.stream().anyMatch(one -> {
                PathParam name = one.getAnnotation(PathParam.class);
                return name != null && name.value().equals(NAMESPACE);
            });
            List<Parameter> inQuery = parameters.stream()
                    .filter(one -> {
                        QueryParam name = one.getAnnotation(QueryParam.class);
                        return name != null && name.value().equals(NAMESPACE);
                    })
                    .toList();
            if (needs != null && needs.in() == Needs.Scope.NAMESPACE && !inPath && inQuery.isEmpty()) {
                throw new IllegalStateException(method + " has no namespace to need something in");
            }
            return new Route(
                    needs,
                    inPath,
                    !inQuery.isEmpty(),
                    inQuery.stream().noneMatch(one -> one.isAnnotationPresent(DefaultValue.class)));
        }
    }

    @ServerRequestFilter(priority = Priorities.AUTHENTICATION)
    void check(ContainerRequestContext request, @Nullable ResourceInfo resource, RoutingContext context)
            throws BrokerUnavailableException {
        try {
            letIn(request, resource, context);
        } catch (ProblemException e) {
            request.setProperty(REFUSAL, e.problem().code());
            throw e;
        }
    }

    private void letIn(ContainerRequestContext request, @Nullable ResourceInfo resource, RoutingContext context)
            throws BrokerUnavailableException {
        Method method = resource == null ? null : resource.getResourceMethod();
        if (method == null || !method.getDeclaringClass().getName().startsWith(OURS)) {
            return;
        }
        Route route = routes.computeIfAbsent(method, Route::of);
        Needs needs = route.needs();
        if (needs == null) {
            access.get().settle(null, null);
            return;
        }
        List<String> authorization = context.request().headers().getAll(HttpHeaders.AUTHORIZATION);
        Login.Outcome outcome = login.get().of(authorization);
        if (!(outcome instanceof Login.Open)) {
            request.setProperty(ASKED, new Asked(route, null));
        }
        switch (outcome) {
            case Login.Open ignored -> access.get().settle(null, needs.value());
            case Login.Known known -> {
                Identity identity = known.identity();
                Asked asked = new Asked(route, known);
                access.get().settle(identity, needs.value(), () -> stillIs(identity, authorization));
                request.setProperty(ASKED, asked);
                require(identity, needs, route, request, context);
                if (READING.contains(request.getMethod())) {
                    return;
                }
                if (route.inBody()) {
                    access.get()
                            .tell((namespace, permission) ->
                                    permittedInBody(asked, namespace, permission, request, context));
                } else {
                    audit.get()
                            .permitted(entry(
                                    asked,
                                    route.place(request, context),
                                    needs.value(),
                                    AuditEntry.Outcome.PERMITTED,
                                    null,
                                    request,
                                    context));
                }
            }
            case Login.Missing ignored -> {
                request.setProperty(CHALLENGE, "Bearer realm=\"millrace\"");
                throw refused(
                        "not_logged_in",
                        "Expected the header Authorization: Bearer and an API key or a token, found none.");
            }
            case Login.Refused(String reason) -> {
                request.setProperty(CHALLENGE, "Bearer realm=\"millrace\", error=\"invalid_token\"");
                throw refused("bad_token", "The API key or token is refused: " + reason + ".");
            }
            case Login.Unavailable ignored ->
                throw new ProblemException(
                        Problem.of(
                                503,
                                "login_unavailable",
                                "Nobody can log in now",
                                "The keys of the issuer cannot be fetched, so that no token can be checked."),
                        SOON);
        }
    }

    /** Once what is to be done is read, and before it is done. */
    private void permittedInBody(
            Asked asked,
            String namespace,
            Permission permission,
            ContainerRequestContext request,
            RoutingContext context) {
        try {
            audit.get()
                    .permitted(
                            entry(asked, namespace, permission, AuditEntry.Outcome.PERMITTED, null, request, context));
        } catch (BrokerUnavailableException e) {
            throw new ProblemException(
                    Problem.of(
                            503,
                            "broker_unavailable",
                            "The brokers do not answer",
                            "The Kafka brokers did not store the audit entry in time, so nothing was done."),
                    SOON);
        }
    }

    /** Whether somebody would be let in now with what they were let in with. */
    private boolean stillIs(Identity identity, List<String> authorization) {
        return switch (login.get().of(authorization)) {
            case Login.Known(Identity now, Login.Means ignored) ->
                now.principal().equals(identity.principal()) && now.grants().containsAll(identity.grants());
            case Login.Unavailable ignored -> true; // nothing is known against them
            case Login.Open ignored -> true;
            case Login.Missing ignored -> false;
            case Login.Refused ignored -> false;
        };
    }

    private static AuditEntry entry(
            Asked asked,
            @Nullable String namespace,
            Permission needs,
            AuditEntry.Outcome outcome,
            @Nullable String code,
            ContainerRequestContext request,
            RoutingContext context) {
        SocketAddress client = context.request().remoteAddress();
        Login.Known caller = asked.caller();
        return new AuditEntry(
                Instant.now().toString(),
                caller == null ? null : caller.identity().principal(),
                caller == null ? null : caller.means().name().toLowerCase(Locale.ROOT),
                request.getMethod(),
                JsonText.cut(request.getUriInfo().getPath(), MAX_PATH),
                namespace,
                needs.word(),
                outcome,
                code,
                client == null ? null : client.hostAddress(),
                null);
    }

    /** Takes note of refusals, and says how to log in, in whatever shape the refusal has become. */
    @ServerResponseFilter
    void challenge(ContainerRequestContext request, ContainerResponseContext response, RoutingContext context) {
        int status = response.getStatus();
        if (request.getProperty(ASKED) instanceof Asked asked) {
            List<Access.Refusal> refusals = access.get().refusals();
            if (status == 401 || status == 403) {
                String code = request.getProperty(REFUSAL) instanceof String known
                        ? known
                        : refusals.isEmpty() ? "refused" : refusals.getLast().code();
                audit.get()
                        .refused(entry(
                                asked,
                                asked.route().place(request, context),
                                Objects.requireNonNull(asked.route().needs()).value(),
                                AuditEntry.Outcome.REFUSED,
                                code,
                                request,
                                context));
            } else {
                // in the answer of a protocol that has refusals of its own
                for (Access.Refusal one : refusals) {
                    audit.get()
                            .refused(entry(
                                    asked,
                                    one.namespace(),
                                    one.permission(),
                                    AuditEntry.Outcome.REFUSED,
                                    one.code(),
                                    request,
                                    context));
                }
            }
        }
        if (response.getStatus() == 401 && request.getProperty(CHALLENGE) instanceof String challenge) {
            response.getHeaders().putSingle(HttpHeaders.WWW_AUTHENTICATE, challenge);
        }
    }

    private static void require(
            Identity caller, Needs needs, Route route, ContainerRequestContext request, RoutingContext context) {
        Permission permission = needs.value();
        switch (needs.in()) {
            case EVERYWHERE -> require(caller, "*", permission);
            case ANYWHERE, BODY -> {
                if (!caller.maySomewhere(permission)) {
                    throw Access.notPermitted(caller, caller.home(), permission);
                }
            }
            case NAMESPACE -> {
                if (route.inPath()) {
                    for (String namespace :
                            request.getUriInfo().getPathParameters().getOrDefault(NAMESPACE, List.of())) {
                        require(caller, namespace, permission);
                    }
                }
                if (route.inQuery()) {
                    requireInQuery(caller, permission, route.ofAll(), context.queryParams());
                }
            }
        }
    }

    /** A request that names no namespace is for its caller's own, or for all where that is meant and permitted. */
    private static void requireInQuery(Identity caller, Permission permission, boolean ofAll, MultiMap query) {
        List<String> given = query.getAll(NAMESPACE).stream()
                .filter(namespace -> !namespace.isBlank())
                .toList();
        if (!given.isEmpty()) {
            given.forEach(namespace -> require(caller, namespace, permission));
            query.set(NAMESPACE, given);
        } else if (!ofAll || !caller.mayEverywhere(permission)) {
            require(caller, caller.home(), permission);
            query.set(NAMESPACE, caller.home());
        }
    }

    private static void require(Identity caller, String namespace, Permission permission) {
        if (!caller.may(namespace, permission)) {
            throw Access.notPermitted(caller, namespace, permission);
        }
    }

    private static ProblemException refused(String code, String detail) {
        return new ProblemException(Problem.of(401, code, "Log in first", detail));
    }
}
