package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.Task;
import dev.millrace.client.Route;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Payload;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace ask "…"}: submits a task, shows what happens, prints the answer. */
@Command(
        name = "ask",
        footerHeading = "%nExamples:%n",
        footer = {
            "  ask 'Which files are in the workspace?'",
            "  ask 'And what does notes.txt say?' --session notes --agent general",
            "  ask 'Sum up the week' --wait --timeout 2m --json"
        },
        description = {
            "Gives a task to a running Millrace, shows on standard error what happens, and prints the answer on"
                    + " standard output, while the model says it if that is a terminal. At a terminal it lets you answer"
                    + " questions and decide on tool calls that need an approval; elsewhere it ends there, with an exit"
                    + " code of its own, and says which command does."
        })
public final class AskCommand extends ClientCommand {

    /** After so long without an event it looks whether there is a reason. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    @Parameters(paramLabel = "TEXT", arity = "1", description = "What the agent is to do or to answer.")
    private String text = "";

    @Option(
            names = "--session",
            paramLabel = "ID",
            description = "The conversation that it belongs to (default: a new one). Tasks of one conversation run one"
                    + " after the other, share budget and variables, and see what was said in earlier ones. To go on"
                    + " with a task, see `./millrace resume`.")
    private @Nullable String session;

    @Option(names = "--agent", paramLabel = "NAME", description = "The agent that is to do it (default: general).")
    private @Nullable String agent;

    @Option(
            names = "--participants",
            paramLabel = "NAME",
            split = ",",
            description =
                    "Who takes part in --session from now on: agents by name, and user for people. Without --agent"
                            + " the text goes to those that it mentions with @NAME.")
    private List<String> participants = List.of();

    @Option(names = "--as", paramLabel = "NAME", description = "What you are called; agents are shown it.")
    private @Nullable String sender;

    @Option(
            names = "--ttl",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "A task that has not begun after so long is no longer worth it, such as 90s or 10m.")
    private @Nullable Duration ttl;

    @Option(
            names = "--metadata",
            paramLabel = "KEY=VALUE",
            description = "Goes into the task's metadata, where the agent's prompt finds it as {{input.metadata.KEY}}."
                    + " May be repeated.")
    private Map<String, String> metadata = new LinkedHashMap<>();

    @Option(
            names = "--wait",
            description = "Where a person has to answer or decide and none is at this terminal, wait for somebody to do"
                    + " it with another command, until --timeout.")
    private boolean wait;

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            defaultValue = "10m",
            converter = DurationConverter.class,
            description = "How long to wait for the end, such as 90s or 10m (default: ${DEFAULT-VALUE}).")
    private Duration timeout = Duration.ofMinutes(10);

    @Override
    int run(GatewayClient client) throws InterruptedException {
        if (text.isBlank()) {
            throw new CommandException(ExitCodes.USAGE, "TEXT: expected a task for the agent, found nothing");
        }
        JsonObject given = JsonObject.of(metadata);
        String taskId = client.submit(new Task.Request(
                text,
                agent,
                null,
                session,
                null,
                given.isEmpty() ? null : given,
                null,
                null,
                null,
                ttl == null ? null : ttl.toMillis(),
                null,
                null,
                participants.isEmpty() ? null : participants,
                sender));
        err("task " + taskId);
        try (EventFeed feed = client.taskFeed(taskId, terminal().live())) {
            int exitCode = follow(feed, new AskDialogue(client, terminal(), taskId));
            if (output().json()) {
                boolean ended = exitCode == ExitCodes.DONE || exitCode == ExitCodes.FAILED;
                output().print(client.get("/v1/tasks/" + Route.encoded(taskId) + (ended ? "?wait=10s" : "")));
            }
            return exitCode;
        }
    }

    private int follow(EventFeed feed, AskDialogue conversation) throws InterruptedException {
        Progress progress = new Progress();
        LiveAnswer live = new LiveAnswer(terminal());
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            long left = Math.max(0, end - System.nanoTime());
            Optional<JsonNode> next = feed.next(Duration.ofNanos(Math.min(left, SILENCE.toNanos())));
            if (next.isEmpty()) {
                conversation.newNote().ifPresent(note -> {
                    live.breakLine();
                    err("  " + Progress.cut(note));
                });
                if (System.nanoTime() - end < 0) {
                    continue;
                }
                conversation.tellThatItGoesOn(timeout);
                return ExitCodes.TIMED_OUT;
            }
            if (!output().json() && live.take(next.get())) {
                continue;
            }
            ToldEvent event = ToldEvent.of(next.get());
            progress.line(event).ifPresent(line -> {
                live.breakLine();
                err(line);
            });
            long asked = System.nanoTime();
            Optional<Integer> exitCode = outcome(event.payload(), conversation, live);
            if (exitCode.isPresent()) {
                return exitCode.get();
            }
            end += System.nanoTime() - asked; // the time that a person takes is not the task's
        }
    }

    /** What to tell the shell if this event ends the wait. */
    private Optional<Integer> outcome(Payload payload, AskDialogue conversation, LiveAnswer live) {
        return switch (payload) {
            case Payload.TaskCompleted completed -> {
                if (!output().json()) {
                    live.finish(Objects.requireNonNullElse(completed.result().response(), ""));
                }
                yield Optional.of(ExitCodes.DONE);
            }
            case Payload.TaskFailed failed -> {
                err("The task failed: " + Progress.printableLines(failed.error()) + " (" + failed.code() + ")");
                yield Optional.of(ExitCodes.FAILED);
            }
            case Payload.TaskCancelled cancelled -> {
                err("The task was cancelled: "
                        + Progress.printableLines(Objects.requireNonNullElse(cancelled.reason(), "no reason given")));
                yield Optional.of(ExitCodes.FAILED);
            }
            case Payload.ApprovalRequested approval ->
                conversation.decide(approval) || wait ? Optional.empty() : Optional.of(ExitCodes.UNDECIDED);
            case Payload.TaskSuspended suspended ->
                conversation.suspended(suspended) || wait ? Optional.empty() : Optional.of(ExitCodes.SUSPENDED);
            default -> Optional.empty();
        };
    }
}
