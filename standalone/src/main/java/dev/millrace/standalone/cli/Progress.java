package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.util.Locale;
import java.util.Optional;

/**
 * Tells in one line what an event of a task means to somebody who waits for the answer. Remembers the current model
 * call.
 */
final class Progress {

    /** So that a long argument does not fill the terminal. */
    private static final int MAX_DETAIL = 120;

    private int reasonings;
    private long askedAt;

    /** The line for this event; empty if it means nothing to a waiting person. */
    Optional<String> line(JsonNode event) {
        JsonNode payload = event.path("payload");
        return switch (event.path("type").asText()) {
            case "MODEL_CALL_REQUESTED" -> {
                askedAt = event.path("timestamp").asLong();
                reasonings++;
                yield Optional.of("reasoning" + (reasonings == 1 ? "" : ", round " + reasonings));
            }
            case "REASON_DONE" ->
                Optional.of(reasoned(payload, event.path("timestamp").asLong() - askedAt));
            case "MODEL_CALL_FAILED" ->
                Optional.of("  the model failed: " + cut(payload.path("error").asText()));
            case "TOOL_CALL_REQUESTED" ->
                Optional.of("tool " + payload.path("toolName").asText() + ' '
                        + cut(Json.writeText(payload.path("params"))));
            case "TOOL_CALL_COMPLETED" ->
                Optional.of("  " + payload.path("toolName").asText() + " done in "
                        + duration(payload.path("durationMs").asLong()));
            case "TOOL_CALL_FAILED" ->
                Optional.of("  " + payload.path("toolName").asText() + " failed after "
                        + duration(payload.path("durationMs").asLong()) + ": "
                        + cut(payload.path("error").asText()));
            case "TASK_NOTIFY" ->
                Optional.of("note: " + cut(payload.path("message").asText()));
            case "APPROVAL_REQUESTED" ->
                Optional.of("approval needed: " + payload.path("toolName").asText() + ' '
                        + cut(Json.writeText(payload.path("params"))) + why(payload));
            case "APPROVAL_DECIDED" -> Optional.of("  " + decided(payload));
            case "TASK_SUSPENDED" -> Optional.of("suspended");
            case "TASK_RESUMED" -> Optional.of("resumed");
            default -> Optional.empty();
        };
    }

    private static String reasoned(JsonNode payload, long millis) {
        StringBuilder line =
                new StringBuilder("  ").append(payload.path("model").asText("model"));
        line.append(" took ").append(duration(Math.max(0, millis)));
        JsonNode usage = payload.path("usage");
        if (usage.path("outputTokens").asLong() > 0) {
            line.append(", ")
                    .append(usage.path("inputTokens").asLong())
                    .append(" + ")
                    .append(usage.path("outputTokens").asLong())
                    .append(" tokens");
        }
        String reasoning = payload.path("reasoning").asText("");
        if (!reasoning.isBlank()) {
            line.append(": ").append(cut(reasoning));
        }
        return line.toString();
    }

    /** On a line of its own and whole, since whoever decides has to know it. */
    private static String why(JsonNode payload) {
        String reason = payload.path("reason").asText("");
        return reason.isBlank() ? "" : "\n  reason: " + reason.strip().replaceAll("\\s+", " ");
    }

    /** A decision on a tool call, whose it is, and why. */
    static String decided(JsonNode payload) {
        StringBuilder line = new StringBuilder();
        line.append(payload.path("decision").asText().equals("approve") ? "approved" : "rejected");
        if (payload.hasNonNull("params")) {
            line.append(", with ").append(cut(Json.writeText(payload.path("params"))));
        }
        if (payload.hasNonNull("decidedBy")) {
            line.append(" by ").append(payload.path("decidedBy").asText());
        }
        if (payload.hasNonNull("reason")) {
            line.append(": ").append(cut(payload.path("reason").asText()));
        }
        return line.toString();
    }

    static String duration(long millis) {
        return millis < 1_000 ? millis + " ms" : String.format(Locale.ROOT, "%.1f s", millis / 1_000.0);
    }

    static String cut(String text) {
        return cut(text, MAX_DETAIL);
    }

    /** The text in one line of so many characters at most. */
    static String cut(String text, int max) {
        String line = printable(text.strip().replaceAll("\\s+", " "));
        return line.length() <= max ? line : line.substring(0, max - 1) + "…";
    }

    /** Without what steers a terminal: what tasks say comes from anybody. */
    static String printable(String text) {
        return text.replaceAll("[\\p{Cntrl}\\x80-\\x9f&&[^\\t]]", "\uFFFD");
    }
}
