package dev.millrace.schemas;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Why an HTTP request was not done, as RFC 9457 has it. Programs go by the code, people read the detail.
 *
 * @param status the HTTP status, 400 to 599
 * @param code a stable word, lower snake case, such as {@code unknown_task}
 * @param title what kind of problem this is; the same for every problem with this code
 * @param detail what was expected and found this time, and what to do about it
 * @param more further members, in this order
 */
public record Problem(int status, String code, String title, String detail, Map<String, @Nullable Object> more) {

    /** The media type of {@link #toJson}. */
    public static final String MEDIA_TYPE = "application/problem+json";

    public Problem {
        more = Collections.unmodifiableMap(new LinkedHashMap<>(more));
    }

    /** A problem without further members. */
    public static Problem of(int status, String code, String title, String detail) {
        return new Problem(status, code, title, detail, Map.of());
    }

    /**
     * The problem as a JSON object.
     *
     * @param instance the path of the request that it is about
     */
    public Map<String, @Nullable Object> toJson(String instance) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("type", "urn:millrace:problem:" + code);
        json.put("title", title);
        json.put("status", status);
        json.put("detail", detail);
        json.put("instance", instance);
        json.put("code", code);
        more.forEach(json::putIfAbsent);
        return json;
    }
}
