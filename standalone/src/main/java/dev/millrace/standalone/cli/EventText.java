package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/** An event in words: what it says in one line, and everything that is in it. */
final class EventText {

    private static final String INDENT = "  ";
    /** Fields that have Unix milliseconds. */
    private static final Set<String> MOMENTS = Set.of("timestamp", "createdAt", "updatedAt");

    private EventText() {}

    /**
     * What matters most in it, such as the message of an error or the model's reply, as long as it is; may be empty.
     */
    static String summary(ToldEvent event) {
        return switch (event.payload()) {
            case Payload.MessageReceived message -> quoted(message.text() == null ? message.content() : message.text());
            case Payload.TaskCreated created -> created.taskType();
            case Payload.TaskStateChanged move -> move.fromState() + " → " + move.toState();
            case Payload.ToolCallRequested call -> call.toolName() + ' ' + Json.writeText(call.params());
            case Payload.ApprovalRequested asked ->
                asked.toolName()
                        + ' '
                        + Json.writeText(asked.params())
                        + (asked.reason() == null ? "" : " (" + asked.reason() + ")");
            case Payload.ApprovalDecided decided -> Progress.decided(decided);
            case Payload.ToolCallCompleted call ->
                call.toolName() + " in " + Progress.duration(call.durationMs()) + ": " + value(call.result());
            case Payload.ToolCallFailed call -> call.toolName() + ' ' + failure(call.code(), call.error());
            case Payload.ReasonDone reply -> reply(reply);
            case Payload.NeedMoreInfo asked -> quoted(asked.question());
            case Payload.TaskSuspended suspended ->
                suspended.question() == null ? orEmpty(suspended.reason()) : quoted(suspended.question());
            case Payload.TaskResumed resumed -> quoted(resumed.newInput());
            case Payload.TaskNotify said -> quoted(said.message());
            case Payload.TaskCancelled cancelled -> orEmpty(cancelled.reason());
            case Payload.TaskCancelRequested cancel -> orEmpty(cancel.reason());
            case Payload.TaskCompleted completed -> quoted(completed.result().response());
            default -> failure(event.event().text("code"), event.event().text("error"));
        };
    }

    /** Everything in it but its type, one field per line, and texts with their line breaks. */
    static List<String> fields(ToldEvent event) {
        return fields(event.json(), Set.of("type"));
    }

    /** Everything in an answer but these of its fields, in the same way. */
    static List<String> fields(JsonNode json, Set<String> without) {
        List<String> lines = new ArrayList<>();
        json.properties().forEach(field -> {
            JsonNode value = field.getValue();
            if (MOMENTS.contains(field.getKey()) && value.canConvertToLong()) {
                lines.add(field.getKey() + ": " + Instant.ofEpochMilli(value.asLong()) + " (" + value.asLong() + ")");
            } else if (!without.contains(field.getKey())) {
                outline(lines, "", field.getKey() + ':', value);
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
            List<String> said = (value.isTextual() ? value.asText() : Json.writeText(value))
                    .lines()
                    .map(Progress::printable)
                    .toList();
            if (said.size() < 2) {
                lines.add((indent + name + ' ' + String.join("", said)).stripTrailing());
            } else {
                lines.add(indent + name);
                said.forEach(line -> lines.add(indent + INDENT + line));
            }
        }
    }

    /** The code and the message of what has failed; empty if nothing has. */
    private static String failure(@Nullable String code, @Nullable String error) {
        return code == null || error == null ? orEmpty(code) + orEmpty(error) : code + ": " + error;
    }

    /** What the model said, and what it calls. */
    private static String reply(Payload.ReasonDone reply) {
        StringJoiner said = new StringJoiner("; ").setEmptyValue(orEmpty(reply.approach()));
        String response = quoted(reply.response());
        if (!response.isEmpty()) {
            said.add(response);
        }
        reply.toolCalls()
                .forEach(call -> said.add("calls " + call.toolName() + ' ' + Json.writeText(call.arguments())));
        return said.toString();
    }

    /** A text as it is, all else as JSON. */
    private static String value(@Nullable Object value) {
        return value instanceof String text ? text : Json.writeText(value);
    }

    private static String quoted(@Nullable String text) {
        return text == null || text.isEmpty() ? "" : '"' + text + '"';
    }

    private static String orEmpty(@Nullable String text) {
        return Objects.requireNonNullElse(text, "");
    }
}
