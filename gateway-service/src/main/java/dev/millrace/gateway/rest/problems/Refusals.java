package dev.millrace.gateway.rest.problems;

import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Problem;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What another service has refused, as problems of the gateway's. */
public final class Refusals {

    private static final Set<String> OF_EVERY_PROBLEM = Set.of("type", "title", "status", "detail", "instance", "code");

    private Refusals() {}

    /**
     * The problem that it answered with.
     *
     * @param status what it answered with
     */
    public static ProblemException of(int status, String problemJson) throws QueryUnavailableException {
        try {
            Map<String, @Nullable Object> json = Json.readObject(problemJson.getBytes(StandardCharsets.UTF_8));
            Map<String, Object> more = new LinkedHashMap<>();
            json.forEach((member, value) -> {
                if (value != null && !OF_EVERY_PROBLEM.contains(member)) {
                    more.put(member, value);
                }
            });
            return new ProblemException(new Problem(
                    status,
                    String.valueOf(json.get("code")),
                    String.valueOf(json.get("title")),
                    String.valueOf(json.get("detail")),
                    more));
        } catch (MalformedEventException e) {
            throw new QueryUnavailableException("another service answered with something that cannot be read", e);
        }
    }
}
