package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Draws events as the tree that {@code parentEventId} makes of them: what caused what, in the order of the journal. */
final class EventTree {

    /** An event that waits to be drawn, and where. */
    private record Pending(JsonNode event, String prefix, String branch, String childPrefix) {}

    private EventTree() {}

    /** One line per event. An event whose parent is not among them is a root. */
    static List<String> lines(List<JsonNode> events) {
        Set<String> ids = new HashSet<>();
        events.forEach(event -> ids.add(event.path("id").asText()));
        List<JsonNode> roots = new ArrayList<>();
        Map<String, List<JsonNode>> children = new LinkedHashMap<>();
        for (JsonNode event : events) {
            String parent = event.path("parentEventId").asText("");
            if (ids.contains(parent) && !parent.equals(event.path("id").asText())) {
                children.computeIfAbsent(parent, any -> new ArrayList<>()).add(event);
            } else {
                roots.add(event);
            }
        }
        long start = events.isEmpty() ? 0 : events.getFirst().path("timestamp").asLong();
        List<String> lines = new ArrayList<>();
        // a stack instead of recursion: a chain of a thousand rounds is a legal history
        Deque<Pending> pending = new ArrayDeque<>();
        roots.reversed().forEach(root -> pending.push(new Pending(root, "", "", "")));
        Set<String> drawn = new HashSet<>();
        while (!pending.isEmpty()) {
            Pending next = pending.pop();
            String id = next.event().path("id").asText();
            lines.add(next.prefix() + next.branch() + describe(next.event(), start));
            if (!drawn.add(id)) {
                continue; // a record that was journalled twice has its children under the first
            }
            List<JsonNode> below = children.getOrDefault(id, List.of());
            for (int i = below.size() - 1; i >= 0; i--) {
                boolean last = i == below.size() - 1;
                pending.push(new Pending(
                        below.get(i),
                        next.childPrefix(),
                        last ? "└ " : "├ ",
                        next.childPrefix() + (last ? "  " : "│ ")));
            }
        }
        return lines;
    }

    private static String describe(JsonNode event, long start) {
        String detail = detail(event);
        return event.path("type").asText() + (detail.isEmpty() ? "" : "  " + detail) + "  +"
                + Progress.duration(event.path("timestamp").asLong() - start) + "  "
                + event.path("id").asText();
    }

    private static String detail(JsonNode event) {
        JsonNode payload = event.path("payload");
        return switch (event.path("type").asText()) {
            case "MESSAGE_RECEIVED" ->
                quoted(payload.path("text").asText(payload.path("content").asText()));
            case "TASK_STATE_CHANGED" ->
                payload.path("fromState").asText() + " → "
                        + payload.path("toState").asText();
            case "TOOL_CALL_REQUESTED" ->
                payload.path("toolName").asText() + ' ' + Progress.cut(Json.writeText(payload.path("params")));
            case "TOOL_CALL_COMPLETED" ->
                payload.path("toolName").asText() + " in "
                        + Progress.duration(payload.path("durationMs").asLong());
            case "TOOL_CALL_FAILED" ->
                payload.path("toolName").asText() + ' ' + payload.path("code").asText();
            case "REASON_DONE" -> payload.path("approach").asText();
            case "MODEL_CALL_FAILED", "MODEL_CALL_ABANDONED", "TASK_FAILED" ->
                payload.path("code").asText();
            case "NEED_MORE_INFO" -> quoted(payload.path("question").asText());
            case "TASK_COMPLETED" ->
                quoted(payload.path("result").path("response").asText(""));
            default -> "";
        };
    }

    private static String quoted(String text) {
        return text.isEmpty() ? "" : '"' + Progress.cut(text) + '"';
    }
}
