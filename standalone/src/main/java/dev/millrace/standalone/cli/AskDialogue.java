package dev.millrace.standalone.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.standalone.cli.GatewayClient.RefusedException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a task asks of the person who waits for it, and how that gets an answer: here, or with another command. */
final class AskDialogue {
    private final GatewayClient client;
    private final Terminal terminal;
    private final String taskId;
    private String note = "";

    AskDialogue(GatewayClient client, Terminal terminal, String taskId) {
        this.client = client;
        this.terminal = terminal;
        this.taskId = taskId;
    }

    /** A task waits for an answer, or until it is resumed; whether it goes on because of what was typed here. */
    boolean suspended(JsonNode payload) {
        String question = payload.path("question").asText("");
        terminal.out().println(question.isEmpty() ? payload.path("reason").asText("") : question);
        if (!question.isEmpty()) {
            Optional<String> answer = terminal.ask("> ");
            if (answer.isPresent()) {
                send("/v1/tasks/" + GatewayClient.encoded(taskId) + "/resume", Map.of("newInput", answer.get()));
                return true;
            }
        }
        terminal.err()
                .println(
                        question.isEmpty()
                                ? "Task " + taskId + " waits to be resumed: " + client.hint("resume", taskId)
                                : "Task " + taskId + " waits for an answer: " + client.hint("resume", taskId)
                                        + " --input \"…\"");
        return false;
    }

    /** A tool call waits for a decision; whether that was typed here. */
    boolean decide(JsonNode payload) {
        String callId = payload.path("callId").asText();
        Optional<Map<String, Object>> decision = typedDecision(payload);
        // arguments that the tool cannot take decide nothing
        while (decision.isPresent()
                && !send(ApproveCommand.path(callId), decision.get())
                && decision.get().containsKey("params")) {
            decision = typedDecision(payload);
        }
        if (decision.isPresent()) {
            return true;
        }
        terminal.err()
                .println("Task " + taskId + " waits for a decision on call " + callId + ": "
                        + client.hint("approve", callId) + "   or   " + client.hint("reject", callId)
                        + " --reason \"…\"");
        return false;
    }

    /**
     * What there is to say of a task that makes no progress, such as that no worker is there for a tool; each thing
     * once.
     */
    Optional<String> newNote() {
        try {
            String before = note;
            note = client.get("/v1/tasks/" + GatewayClient.encoded(taskId))
                    .path("note")
                    .asText("");
            return note.isEmpty() || note.equals(before) ? Optional.empty() : Optional.of(note);
        } catch (CommandException e) {
            return Optional.empty(); // the events tell that it cannot be reached
        }
    }

    /** It did not end in time. */
    void tellThatItGoesOn(Duration timeout) {
        terminal.err()
                .println("Task " + taskId + " did not end within " + Progress.duration(timeout.toMillis())
                        + ". It goes on; `" + client.hint("events", taskId) + "` shows what it does.");
    }

    private Optional<Map<String, Object>> typedDecision(JsonNode payload) {
        while (true) {
            Optional<String> typed = terminal.ask("  approve? [y]es, [n]o, [e]dit the arguments: ");
            if (typed.isEmpty()) {
                return Optional.empty();
            }
            switch (typed.get().toLowerCase(Locale.ROOT)) {
                case "y", "yes" -> {
                    return Optional.of(decision("approve", null, null));
                }
                case "n", "no" -> {
                    return Optional.of(
                            decision("reject", null, terminal.ask("  why not? ").orElse(null)));
                }
                case "e", "edit" -> {
                    Optional<JsonNode> params = typedParams(payload.path("params"));
                    if (params.isPresent()) {
                        return Optional.of(decision("approve", params.get(), null));
                    }
                }
                default -> terminal.err().println("  expected y, n or e");
            }
        }
    }

    private Optional<JsonNode> typedParams(JsonNode asked) {
        terminal.err().println("  now: " + Json.writeText(asked));
        Optional<String> typed = terminal.ask("  arguments: ");
        if (typed.isPresent()) {
            try {
                JsonNode params = Json.MAPPER.readTree(typed.get());
                if (params.isObject()) {
                    return Optional.of(params);
                }
            } catch (JsonProcessingException e) {
                // told below
            }
            terminal.err().println("  expected a JSON object");
        }
        return Optional.empty();
    }

    static Map<String, Object> decision(String decision, @Nullable JsonNode params, @Nullable String reason) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("decision", decision);
        if (params != null) {
            body.put("params", params);
        }
        if (reason != null) {
            body.put("reason", reason);
        }
        body.put("decidedBy", System.getProperty("user.name", "cli"));
        return body;
    }

    /**
     * What was typed may come too late: that is worth a line and no more.
     *
     * @return whether it was taken
     */
    private boolean send(String path, Map<String, ?> body) {
        try {
            client.post(path, body);
            return true;
        } catch (RefusedException e) {
            terminal.err().println("  " + e.getMessage());
            return false;
        }
    }
}
