package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace ask "…"}: submits a task, shows what happens, prints the answer. */
@Command(
        name = "ask",
        description = {
            "Gives a task to a running Millrace, shows on standard error what happens, and prints the answer on"
                    + " standard output, while the model says it if that is a terminal. At a terminal it lets you answer questions and decide on tool calls that need"
                    + " an approval; elsewhere it says which command does."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the task completed",
            "1:it failed, was cancelled or was refused",
            "2:the command line makes no sense",
            "3:nobody answers at the URL",
            "4:it did not end in time (it goes on; see `millrace tasks`)",
            "5:it waits for your answer to a question",
        })
public final class AskCommand implements Callable<Integer> {

    @Parameters(paramLabel = "TEXT", arity = "1", description = "What the agent is to do or to answer.")
    private String text = "";

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    @Option(
            names = "--session",
            paramLabel = "ID",
            description = "The conversation to go on with (default: a new one).")
    private @Nullable String session;

    @Option(names = "--agent", paramLabel = "NAME", description = "The agent that is to do it (default: general).")
    private @Nullable String agent;

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            defaultValue = "10m",
            converter = DurationConverter.class,
            description = "How long to wait for the end, such as 90s or 10m (default: ${DEFAULT-VALUE}).")
    private Duration timeout = Duration.ofMinutes(10);

    private final Terminal terminal;

    /** For picocli. */
    public AskCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (text.isBlank()) {
            throw new CommandException(ExitCodes.USAGE, "TEXT: expected a task for the agent, found nothing");
        }
        try (GatewayClient client = gateway.client()) {
            String taskId = client.submit(text, session, agent);
            terminal.err().println("task " + taskId);
            try (EventFeed feed = EventFeed.ofTask(client, taskId, terminal.live())) {
                return follow(feed, taskId, new Conversation(client, terminal, taskId));
            }
        }
    }

    private int follow(EventFeed feed, String taskId, Conversation conversation) throws InterruptedException {
        Progress progress = new Progress();
        LiveAnswer live = new LiveAnswer(terminal);
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            Optional<JsonNode> next = feed.next(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
            if (next.isEmpty()) {
                terminal.err()
                        .println("Task " + taskId + " did not end within " + Progress.duration(timeout.toMillis())
                                + ". It goes on; `./millrace events " + taskId + "` shows what it does.");
                return ExitCodes.TIMED_OUT;
            }
            JsonNode event = next.get();
            if (live.take(event)) {
                continue;
            }
            progress.line(event).ifPresent(line -> {
                live.breakLine();
                terminal.err().println(line);
            });
            long asked = System.nanoTime();
            Optional<Integer> exitCode = outcome(event, conversation, live);
            if (exitCode.isPresent()) {
                return exitCode.get();
            }
            end += System.nanoTime() - asked; // the time that a person takes is not the task's
        }
    }

    /** What to tell the shell if this event ends the wait. */
    private Optional<Integer> outcome(JsonNode event, Conversation conversation, LiveAnswer live) {
        JsonNode payload = event.path("payload");
        return switch (event.path("type").asText()) {
            case "TASK_COMPLETED" -> {
                live.finish(payload.path("result").path("response").asText(""));
                yield Optional.of(ExitCodes.DONE);
            }
            case "TASK_FAILED" -> {
                terminal.err()
                        .println("The task failed: " + payload.path("error").asText() + " ("
                                + payload.path("code").asText() + ")");
                yield Optional.of(ExitCodes.FAILED);
            }
            case "TASK_CANCELLED" -> {
                terminal.err()
                        .println("The task was cancelled: "
                                + payload.path("reason").asText("no reason given"));
                yield Optional.of(ExitCodes.FAILED);
            }
            case "APPROVAL_REQUESTED" -> {
                conversation.decide(payload);
                yield Optional.empty();
            }
            case "TASK_SUSPENDED" ->
                conversation.suspended(payload) ? Optional.empty() : Optional.of(ExitCodes.SUSPENDED);
            default -> Optional.empty();
        };
    }
}
