package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
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
                    + " an approval; elsewhere it ends there, with an exit code of its own, and says which command does."
        })
public final class AskCommand implements Callable<Integer> {

    /** After so long without an event it looks whether there is a reason. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    @Parameters(paramLabel = "TEXT", arity = "1", description = "What the agent is to do or to answer.")
    private String text = "";

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    @Option(
            names = "--session",
            paramLabel = "ID",
            description = "The conversation that it belongs to (default: a new one). Tasks of one conversation run one"
                    + " after the other and share budget and variables; a task does not see what was said in earlier"
                    + " ones yet. To go on with a task, see `./millrace resume`.")
    private @Nullable String session;

    @Option(names = "--agent", paramLabel = "NAME", description = "The agent that is to do it (default: general).")
    private @Nullable String agent;

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
            String taskId = client.submit(task());
            terminal.err().println("task " + taskId);
            try (EventFeed feed = EventFeed.ofTask(client, taskId, terminal.live())) {
                return follow(feed, new AskDialogue(client, terminal, taskId));
            }
        }
    }

    private Map<String, Object> task() {
        Map<String, Object> task = new LinkedHashMap<>();
        task.put("text", text);
        if (session != null) {
            task.put("sessionId", session);
        }
        if (agent != null) {
            task.put("taskType", agent);
        }
        if (!metadata.isEmpty()) {
            task.put("metadata", metadata);
        }
        return task;
    }

    private int follow(EventFeed feed, AskDialogue conversation) throws InterruptedException {
        Progress progress = new Progress();
        LiveAnswer live = new LiveAnswer(terminal);
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            long left = Math.max(0, end - System.nanoTime());
            Optional<JsonNode> next = feed.next(Duration.ofNanos(Math.min(left, SILENCE.toNanos())));
            if (next.isEmpty()) {
                conversation.newNote().ifPresent(note -> {
                    live.breakLine();
                    terminal.err().println("  " + Progress.cut(note));
                });
                if (System.nanoTime() - end < 0) {
                    continue;
                }
                conversation.tellThatItGoesOn(timeout);
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
    private Optional<Integer> outcome(JsonNode event, AskDialogue conversation, LiveAnswer live) {
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
            case "APPROVAL_REQUESTED" ->
                conversation.decide(payload) || wait ? Optional.empty() : Optional.of(ExitCodes.UNDECIDED);
            case "TASK_SUSPENDED" ->
                conversation.suspended(payload) || wait ? Optional.empty() : Optional.of(ExitCodes.SUSPENDED);
            default -> Optional.empty();
        };
    }
}
