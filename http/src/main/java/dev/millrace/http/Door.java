package dev.millrace.http;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.Problem;
import io.quarkus.vertx.http.HttpServerStart;
import io.quarkus.vertx.http.ManagementInterface;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.ObservesAsync;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.Config;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stands before every route of this process, of whatever service, and before Quarkus' own. */
@Singleton
public class Door {
    private static final Logger LOGGER = LoggerFactory.getLogger(Door.class);

    /** Above everything of Quarkus' own, CORS and login included. */
    private static final int FIRST = 10_000;

    private static final String SEC_FETCH_SITE = "Sec-Fetch-Site";

    private final Doorkeeper doorkeeper;
    private final List<String> allowedHosts;
    private final String application;

    @Inject
    Door(HttpConfig config, Config all) {
        this.allowedHosts = config.allowedHosts().orElse(List.of());
        this.doorkeeper = new Doorkeeper(
                allowedHosts,
                AllowedOrigins.of(
                        all.getOptionalValue("quarkus.http.cors.enabled", Boolean.class)
                                .orElse(false),
                        all.getOptionalValues("quarkus.http.cors.origins", String.class)));
        this.application =
                all.getOptionalValue("quarkus.application.name", String.class).orElse("millrace");
    }

    void hang(@Observes Filters filters) {
        filters.register(this::enter, FIRST);
    }

    /** The management port has routes of its own, and the same door before them. */
    void hang(@Observes ManagementInterface management) {
        management.router().route().order(-FIRST).handler(this::enter);
    }

    /** Says what is open to whom. */
    void tell(@ObservesAsync HttpServerStart server) {
        String host = server.options().getHost();
        int port = server.options().getPort();
        if (Loopback.is(host)) {
            LOGGER.info("{} listens on {}:{}, for this machine only", application, host, port);
        } else {
            LOGGER.warn("{} {}", application, opened(host, port, allowedHosts));
        }
    }

    static String opened(String host, int port, List<String> allowedHosts) {
        return "listens on " + host + ":" + port + " (quarkus.http.host): whoever can connect there may do all that its"
                + " HTTP API lets them do without a login (docs/security.md). Besides the address itself it answers for: localhost"
                + allowedHosts.stream().map(name -> ", " + name).collect(Collectors.joining())
                + " (millrace.http.allowed-hosts)";
    }

    private void enter(RoutingContext context) {
        doorkeeper.refusal(caller(context)).ifPresentOrElse(problem -> refuse(context, problem), context::next);
    }

    private static Caller caller(RoutingContext context) {
        HttpServerRequest request = context.request();
        List<String> hosts = new ArrayList<>(request.headers().getAll(HttpHeaders.HOST));
        if (request.version() == HttpVersion.HTTP_2 && request.authority() != null) {
            hosts.add(request.authority().toString());
        }
        return new Caller(
                request.method().name(),
                context.normalizedPath(),
                hosts,
                request.headers().getAll(HttpHeaders.ORIGIN),
                request.headers().getAll(SEC_FETCH_SITE),
                request.localAddress() == null ? null : request.localAddress().hostAddress());
    }

    /** What is left of the request is read and dropped, so that its sender gets to read the answer. */
    private static void refuse(RoutingContext context, Problem problem) {
        LOGGER.atDebug().addKeyValue("errorCode", problem.code()).log("A request was not let in");
        context.request().resume();
        context.response()
                .setStatusCode(problem.status())
                .putHeader(HttpHeaders.CONTENT_TYPE, Problem.MEDIA_TYPE)
                .end(Json.writeText(problem.toJson(context.normalizedPath())));
    }
}
