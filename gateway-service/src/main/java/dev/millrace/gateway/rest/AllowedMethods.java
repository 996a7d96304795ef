package dev.millrace.gateway.rest;

import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.Path;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What a 405 has to say and the framework does not: which methods there are instead. */
final class AllowedMethods {
    private static final List<Route> ROUTES = Stream.of(
                    TasksResource.class,
                    TaskControlResource.class,
                    TaskStreamResource.class,
                    LiveStreamResource.class,
                    NotificationsResource.class,
                    ApprovalsResource.class,
                    SystemResource.class,
                    DeadLettersResource.class,
                    SessionStreamResource.class,
                    EventsResource.class,
                    AgentsResource.class,
                    ToolsResource.class,
                    UsageResource.class,
                    MemoryResource.class,
                    MemoryVersionsResource.class,
                    ForgetResource.class,
                    ChatCompletionsResource.class,
                    ModelsResource.class)
            .flatMap(AllowedMethods::routes)
            .toList();

    private record Route(Pattern path, String method) {}

    private AllowedMethods() {}

    /** The value of the header Allow for a path of this gateway; empty if it has no such path. */
    static String at(String path) {
        return ROUTES.stream()
                .filter(route -> route.path().matcher(path).matches())
                .map(Route::method)
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
    }

    private static Stream<Route> routes(Class<?> resource) {
        String base = path(resource.getAnnotation(Path.class));
        return Arrays.stream(resource.getMethods())
                .flatMap(method -> httpMethods(method)
                        .map(name -> new Route(pattern(base + path(method.getAnnotation(Path.class))), name)));
    }

    private static Stream<String> httpMethods(Method method) {
        return Arrays.stream(method.getAnnotations())
                .map(Annotation::annotationType)
                .map(type -> type.getAnnotation(HttpMethod.class))
                .flatMap(Stream::ofNullable)
                .map(HttpMethod::value);
    }

    private static String path(@Nullable Path path) {
        return path == null ? "" : path.value();
    }

    private static Pattern pattern(String template) {
        return Pattern.compile(template.replaceAll("\\{[^}]*: \\.\\+}", ".+").replaceAll("\\{[^}]*}", "[^/]+") + "/?");
    }
}
