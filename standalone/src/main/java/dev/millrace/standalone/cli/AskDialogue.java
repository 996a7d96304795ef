package dev.millrace.standalone.cli;

import dev.millrace.api.Approval;
import dev.millrace.api.Task;
import dev.millrace.client.Route;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Payload;
import dev.millrace.standalone.cli.GatewayClient.RefusedException;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What a task asks of the person who waits for it, and how that gets an answer: here, or with another command. */
final class AskDialogue {
    private final GatewayClient client;
    private final Terminal terminal;
    private final String taskId;
    private @Nullable String note;

    AskDialogue(GatewayClient client, Terminal terminal, String taskId) {
        this.client = client;
        this.terminal = terminal;
        this.taskId = taskId;
    }

    /** A task waits for an answer, or until it is resumed; whether it goes on because of what was typed here. */
    boolean suspended(Payload.TaskSuspended payload) {
        String question = payload.question();
        terminal.out()
                .println(
                        terminal.shown(question == null ? Objects.requireNonNullElse(payload.reason(), "") : question));
        Optional<String> answer = question == null ? Optional.empty() : terminal.ask("> ");
        if (answer.isPresent()) {
            sent(() -> client.post(
                    TaskCommand.path(taskId, "resume"), new Task.NewInput(answer.get()), Task.ControlAccepted.class));
            return true;
        }
        String command = client.hint("resume", taskId);
        terminal.err()
                .println("Task " + taskId + " waits "
                        + (question == null
                                ? "to be resumed: " + command
                                : "for an answer: " + command + " --input \"…\""));
        return false;
    }

    /** A tool call waits for a decision; whether that was typed here. */
    boolean decide(Payload.ApprovalRequested call) {
        while (true) {
            Optional<Approval.Decision> typed = typedDecision(call);
            if (typed.isEmpty()) {
                terminal.err()
                        .println("Task " + taskId + " waits for a decision on call " + call.callId() + ": "
                                + client.hint("approve", call.callId()) + "   or   "
                                + client.hint("reject", call.callId()) + " --reason \"…\"");
                return false;
            }
            // arguments that the tool cannot take decide nothing
            if (sent(() -> ToolDecision.send(client, call.callId(), typed.get()))
                    || typed.get().params() == null) {
                return true;
            }
        }
    }

    /**
     * What there is to say of a task that makes no progress, such as that no worker is there for a tool; each thing
     * once.
     */
    Optional<String> newNote() {
        try {
            String before = note;
            note = client.get("/v1/tasks/" + Route.encoded(taskId), Task.class).note();
            return note == null || note.equals(before) ? Optional.empty() : Optional.of(note);
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

    private Optional<Approval.Decision> typedDecision(Payload.ApprovalRequested call) {
        while (true) {
            Optional<String> typed = terminal.ask("  approve? [y]es, [n]o, [e]dit the arguments: ");
            if (typed.isEmpty()) {
                return Optional.empty();
            }
            switch (typed.get().toLowerCase(Locale.ROOT)) {
                case "y", "yes" -> {
                    return Optional.of(ToolDecision.approve(null));
                }
                case "n", "no" -> {
                    return Optional.of(
                            ToolDecision.reject(terminal.ask("  why not? ").orElse(null)));
                }
                case "e", "edit" -> {
                    terminal.err().println("  now: " + Progress.printable(Json.writeText(call.params())));
                    Optional<String> params = terminal.ask("  arguments: ");
                    Optional<Approval.Decision> edited =
                            params.flatMap(given -> ToolDecision.with(ToolDecision.approve(null), given));
                    if (edited.isPresent()) {
                        return edited;
                    }
                    params.ifPresent(given -> terminal.err().println("  expected a JSON object"));
                }
                default -> terminal.err().println("  expected y, n or e");
            }
        }
    }

    /** Whether it was taken; what was typed may come too late, and that is worth a line and no more. */
    private boolean sent(Supplier<Task.ControlAccepted> request) {
        try {
            Task.ControlAccepted unused = request.get();
            return true;
        } catch (RefusedException e) {
            terminal.err().println("  " + Progress.printableLines(String.valueOf(e.getMessage())));
            return false;
        }
    }
}
