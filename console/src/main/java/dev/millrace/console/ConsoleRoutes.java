package dev.millrace.console;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.Problem;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.Optional;

/**
 * Puts the console at {@code /console}. Files are below {@code /console/-/}; any other address below {@code /console}
 * is one of a screen and gets the page, which finds out what to show. {@code /} leads there.
 */
@Singleton
public class ConsoleRoutes {

    /** Where it is; nothing of the API begins with it. */
    static final String ROOT = "/console";

    private static final String FILES = ROOT + "/-/";

    private final ConsoleFiles files = new ConsoleFiles(ConsoleRoutes.class.getClassLoader());

    void open(@Observes Router router) {
        router.route("/").method(HttpMethod.GET).method(HttpMethod.HEAD).handler(ConsoleRoutes::lead);
        router.route(ROOT + "/*").method(HttpMethod.GET).method(HttpMethod.HEAD).handler(this::serve);
    }

    private static void lead(RoutingContext context) {
        context.response()
                .setStatusCode(302)
                .putHeader(HttpHeaders.LOCATION, ROOT + "/")
                .end();
    }

    private void serve(RoutingContext context) {
        String path = context.normalizedPath();
        Optional<ServedFile> found =
                path.startsWith(FILES) ? files.file(path.substring(FILES.length())) : Optional.of(files.page());
        found.ifPresentOrElse(file -> send(context, file), () -> refuse(context));
    }

    private static void send(RoutingContext context, ServedFile file) {
        HttpServerResponse response = context.response()
                .putHeader(HttpHeaders.CONTENT_TYPE, file.type())
                .putHeader(HttpHeaders.ETAG, file.etag())
                // asked for each time, so that a page never gets modules of another version
                .putHeader(HttpHeaders.CACHE_CONTROL, "no-cache")
                .putHeader("Content-Security-Policy", file.policy())
                .putHeader("X-Content-Type-Options", "nosniff")
                .putHeader("Referrer-Policy", "no-referrer")
                .putHeader("Cross-Origin-Opener-Policy", "same-origin");
        if (file.etag().equals(context.request().getHeader(HttpHeaders.IF_NONE_MATCH))) {
            response.setStatusCode(304).end();
        } else if (context.request().method().equals(HttpMethod.HEAD)) {
            response.putHeader(
                            HttpHeaders.CONTENT_LENGTH,
                            Integer.toString(file.body().length()))
                    .end();
        } else {
            response.end(file.body());
        }
    }

    private static void refuse(RoutingContext context) {
        Problem problem =
                Problem.of(404, "unknown_route", "Not Found", "There is nothing at " + context.normalizedPath() + ".");
        context.response()
                .setStatusCode(problem.status())
                .putHeader(HttpHeaders.CONTENT_TYPE, Problem.MEDIA_TYPE)
                .end(Json.writeText(problem.toJson(context.normalizedPath())));
    }
}
