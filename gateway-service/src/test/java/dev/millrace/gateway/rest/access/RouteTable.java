package dev.millrace.gateway.rest.access;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.QueryParam;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Every route of the gateway with what it needs, as its annotations say. */
final class RouteTable {

    private RouteTable() {}

    /**
     * A route.
     *
     * @param method of HTTP
     * @param path with names in place of values, in braces
     * @param needs {@code null} = it says nothing of that
     * @param open why nobody has to log in; {@code null} = they have to, or it says nothing
     * @param code what serves it
     */
    record Route(
            String method,
            String path,
            @Nullable Needs needs,
            @Nullable String open,
            Method code) {

        boolean takes(String queryParameter) {
            return Arrays.stream(code.getParameters())
                    .map(parameter -> parameter.getAnnotation(QueryParam.class))
                    .anyMatch(name -> name != null && name.value().equals(queryParameter));
        }
    }

    /** All of them, by path. */
    static List<Route> routes() {
        List<Route> routes = new ArrayList<>();
        for (JavaClass type : new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("dev.millrace.gateway.rest")) {
            if (type.isAnnotatedWith(Path.class)) {
                for (Method method : type.reflect().getDeclaredMethods()) {
                    String verb = verb(method);
                    if (verb != null) {
                        routes.add(route(verb, type.reflect(), method));
                    }
                }
            }
        }
        routes.sort(Comparator.comparing(Route::path).thenComparing(Route::method));
        return routes;
    }

    private static Route route(String verb, Class<?> type, Method method) {
        Path part = method.getAnnotation(Path.class);
        String path = type.getAnnotation(Path.class).value() + '/' + (part == null ? "" : part.value());
        OpenToAll open = method.getAnnotation(OpenToAll.class);
        return new Route(
                verb,
                path.replaceAll("\\{(\\w+)\\s*:[^}]*}", "{$1}")
                        .replaceAll("/{2,}", "/")
                        .replaceAll("(.)/$", "$1"),
                method.getAnnotation(Needs.class),
                open == null ? null : open.value(),
                method);
    }

    private static @Nullable String verb(Method method) {
        for (Annotation annotation : method.getAnnotations()) {
            HttpMethod verb = annotation.annotationType().getAnnotation(HttpMethod.class);
            if (verb != null) {
                return verb.value();
            }
        }
        return null;
    }
}
