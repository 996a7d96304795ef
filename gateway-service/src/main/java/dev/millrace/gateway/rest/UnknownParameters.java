package dev.millrace.gateway.rest;

import dev.millrace.gateway.rest.chat.ChatCompletionsResource;
import dev.millrace.gateway.rest.chat.ModelsResource;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.responses.ResponsesResource;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ResourceInfo;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jspecify.annotations.Nullable;

/**
 * Refuses query parameters that a route does not have: a misspelt {@code namespace} would answer for another tenant.
 * What clients of OpenAI's send is not judged, since new versions of them send new ones.
 */
public class UnknownParameters {

    private static final Set<Class<?>> LENIENT =
            Set.of(ChatCompletionsResource.class, ModelsResource.class, ResponsesResource.class);

    private final Map<Method, SortedSet<String>> known = new ConcurrentHashMap<>();

    @ServerRequestFilter
    void check(ContainerRequestContext request, @Nullable ResourceInfo resource) {
        if (resource == null || resource.getResourceMethod() == null) {
            return;
        }
        Class<?> type = resource.getResourceClass();
        if (!type.getPackageName().startsWith(getClass().getPackageName()) || LENIENT.contains(type)) {
            return;
        }
        Collection<String> given = request.getUriInfo().getQueryParameters().keySet();
        if (given.isEmpty()) {
            return;
        }
        SortedSet<String> names = known.computeIfAbsent(resource.getResourceMethod(), UnknownParameters::parameters);
        List<String> unknown =
                given.stream().filter(name -> !names.contains(name)).toList();
        if (!unknown.isEmpty()) {
            throw ProblemException.unknownNames(
                    new ProblemException.Kind("unknown_parameter", "parameter", "parameters"), unknown, names, "");
        }
    }

    private static SortedSet<String> parameters(Method method) {
        return Stream.of(method.getParameters())
                .<AnnotatedElement>flatMap(parameter -> parameter.isAnnotationPresent(BeanParam.class)
                        ? Stream.of(parameter.getType().getDeclaredFields())
                        : Stream.of(parameter))
                .map(element -> element.getAnnotation(QueryParam.class))
                .flatMap(Stream::ofNullable)
                .map(QueryParam::value)
                .collect(Collectors.collectingAndThen(
                        Collectors.toCollection(TreeSet::new), Collections::unmodifiableSortedSet));
    }
}
