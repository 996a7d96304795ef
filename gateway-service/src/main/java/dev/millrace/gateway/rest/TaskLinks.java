package dev.millrace.gateway.rest;

import dev.millrace.schemas.Event;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/**
 * Where to go on with a task; paths relative to the gateway.
 *
 * @param self the task
 * @param events what happened to it
 * @param history how it moved from state to state
 * @param stream its events as they happen
 */
public record TaskLinks(String self, String events, String history, String stream) {

    /** The links of a task. */
    static TaskLinks of(String namespace, String taskId) {
        String self = "/v1/tasks/" + encoded(taskId);
        String query = namespace.equals(Event.DEFAULT_NAMESPACE) ? "" : "?namespace=" + encoded(namespace);
        return new TaskLinks(
                self + query, self + "/events" + query, self + "/history" + query, self + "/stream" + query);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
