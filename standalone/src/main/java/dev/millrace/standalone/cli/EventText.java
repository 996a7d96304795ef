package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/** An event in words: what it says in one line, and everything that is in it. */
final class EventText {

    private static final String INDENT = "  ";

    private EventText() {}

    /**
     * What matters most in it, such as the message of an error or the model's reply, as long as it is; may be empty.
     */
    static String summary(JsonNode event) {
        JsonNode payload = event.path("payload");
        return switch (event.path("type").asText()) {
            case "MESSAGE_RECEIVED" ->
                quoted(payload.path("text").asText(payload.path("content").asText()));
            case "TASK_CREATED" -> payload.path("taskType").asText();
            case "TASK_STATE_CHANGED" ->
                payload.path("fromState").asText() + " → "
                        + payload.path("toState").asText();
            case "TOOL_CALL_REQUESTED" -> tool(payload) + ' ' + Json.writeText(payload.path("params"));
            case "APPROVAL_REQUESTED" ->
                tool(payload) + ' ' + Json.writeText(payload.path("params")) + because(payload);
            case "APPROVAL_DECIDED" -> Progress.decided(payload);
            case "TOOL_CALL_COMPLETED" ->
                tool(payload) + " in "
                        + Progress.duration(payload.path("durationMs").asLong()) + ": " + value(payload.path("result"));
            case "TOOL_CALL_FAILED" -> tool(payload) + ' ' + failure(payload);
            case "REASON_DONE" -> reply(payload);
            case "NEED_MORE_INFO" -> quoted(payload.path("question").asText());
            case "TASK_SUSPENDED" ->
                payload.hasNonNull("question")
                        ? quoted(payload.path("question").asText())
                        : payload.path("reason").asText("");
            case "TASK_RESUMED" -> quoted(payload.path("newInput").asText(""));
            case "TASK_NOTIFY" -> quoted(payload.path("message").asText());
            case "TASK_CANCELLED", "TASK_CANCEL_REQUESTED" ->
                payload.path("reason").asText("");
            case "TASK_COMPLETED" ->
                quoted(payload.path("result").path("response").asText(""));
            default -> failure(payload);
        };
    }

    /** Everything in it but its type, one field per line, and texts with their line breaks. */
    static List<String> fields(JsonNode event) {
        List<String> lines = new ArrayList<>();
        event.properties().forEach(field -> {
            if (field.getKey().equals("timestamp") && field.getValue().isIntegralNumber()) {
                Instant at = Instant.ofEpochMilli(field.getValue().asLong());
                lines.add("timestamp: " + at + " (" + field.getValue().asText() + ")");
            } else if (!field.getKey().equals("type")) {
                outline(lines, "", field.getKey() + ':', field.getValue());
            }
        });
        return lines;
    }

    private static void outline(List<String> lines, String indent, String name, JsonNode value) {
        if (value.isContainerNode() && !value.isEmpty()) {
            lines.add(indent + name);
            value.properties()
                    .forEach(field -> outline(lines, indent + INDENT, field.getKey() + ':', field.getValue()));
            if (value.isArray()) {
                value.forEach(element -> outline(lines, indent + INDENT, "-", element));
            }
        } else {
            List<String> said = value(value).lines().map(Progress::printable).toList();
            if (said.size() < 2) {
                lines.add((indent + name + ' ' + String.join("", said)).stripTrailing());
            } else {
                lines.add(indent + name);
                said.forEach(line -> lines.add(indent + INDENT + line));
            }
        }
    }

    private static String tool(JsonNode payload) {
        return payload.path("toolName").asText();
    }

    /** The code and the message of what has failed; empty if nothing has. */
    private static String failure(JsonNode payload) {
        String code = payload.path("code").asText("");
        String error = payload.path("error").asText("");
        return code.isEmpty() || error.isEmpty() ? code + error : code + ": " + error;
    }

    private static String because(JsonNode payload) {
        return payload.hasNonNull("reason") ? " (" + payload.path("reason").asText() + ")" : "";
    }

    /** What the model said, and what it calls. */
    private static String reply(JsonNode payload) {
        StringJoiner said = new StringJoiner("; ");
        String response = payload.path("response").asText("");
        if (!response.isEmpty()) {
            said.add(quoted(response));
        }
        for (JsonNode call : payload.path("toolCalls")) {
            said.add("calls " + tool(call) + ' ' + Json.writeText(call.path("arguments")));
        }
        return said.length() == 0 ? payload.path("approach").asText("") : said.toString();
    }

    /** A text as it is, all else as JSON. */
    private static String value(JsonNode value) {
        return value.isTextual() ? value.asText() : Json.writeText(value);
    }

    private static String quoted(String text) {
        return text.isEmpty() ? "" : '"' + text + '"';
    }
}
