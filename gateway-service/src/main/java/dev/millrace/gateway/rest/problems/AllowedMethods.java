package dev.millrace.gateway.rest.problems;

import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
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
@Singleton
public class AllowedMethods {
    private record Route(Pattern path, String method) {}

    private final List<Route> routes;

    /** Of all resources that there are. */
    @Inject
    AllowedMethods(BeanManager beans) {
        routes = beans.getBeans(Object.class, Any.Literal.INSTANCE).stream()
                .map(Bean::getBeanClass)
                .filter(type -> type.isAnnotationPresent(Path.class))
                .flatMap(AllowedMethods::routes)
                .toList();
    }

    /** The value of the header Allow for a path; empty if there is no such path. */
    String at(String path) {
        return routes.stream()
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
