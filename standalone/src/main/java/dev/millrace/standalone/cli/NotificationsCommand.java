package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace notifications}: what tasks have to say to their owners, as it comes. */
@Command(
        name = "notifications",
        description = {
            "Shows what tasks have to say to their owners, as it comes: that they ended, ask something, or need an"
                    + " approval. Goes on until it is stopped."
        })
public final class NotificationsCommand implements Callable<Integer> {

    private static final Duration LOOK_AGAIN = Duration.ofMinutes(1);

    @Option(names = "--task", paramLabel = "ID", description = "Only those of one task.")
    private @Nullable String task;

    @Option(names = "--session", paramLabel = "ID", description = "Only those of one conversation.")
    private @Nullable String session;

    @Option(
            names = "--types",
            paramLabel = "TYPES",
            description =
                    "Only some of completed, failed, cancelled, notify, approval_needed and question, with commas.")
    private @Nullable String types;

    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "0",
            description = "Stops after so many (default: 0, never).")
    private int count;

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Mixin
    private GatewayOptions gateway = new GatewayOptions();

    private final Terminal terminal;

    /** For picocli. */
    public NotificationsCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() throws InterruptedException {
        Query query = new Query("/v1/notifications")
                .with("taskId", task)
                .with("sessionId", session)
                .with("types", types);
        try (GatewayClient client = gateway.client();
                EventFeed feed = EventFeed.open(client, query.toString())) {
            for (int shown = 0; count <= 0 || shown < count; ) {
                Optional<JsonNode> notification = feed.next(LOOK_AGAIN);
                if (notification.isPresent()) {
                    if (output.json()) {
                        OutputOptions.print(terminal, notification.get());
                    } else {
                        terminal.out().println(line(notification.get()));
                    }
                    shown++;
                }
            }
            return ExitCodes.DONE;
        }
    }

    private String line(JsonNode notification) {
        String type = notification.path("type").asText();
        return notification.path("taskId").asText() + "  " + type + "  " + says(type, notification);
    }

    private String says(String type, JsonNode notification) {
        return switch (type) {
            case "completed" ->
                Progress.cut(notification.path("result").path("response").asText(""));
            case "failed" ->
                Progress.cut(notification.path("error").asText()) + " ("
                        + notification.path("code").asText() + ")";
            case "cancelled" -> Progress.cut(notification.path("reason").asText(""));
            case "notify" -> Progress.cut(notification.path("message").asText());
            case "question" -> Progress.cut(notification.path("question").asText());
            case "approval_needed" -> {
                JsonNode approval = notification.path("approval");
                yield approval.path("toolName").asText() + ' '
                        + Progress.cut(Json.writeText(approval.path("params"))) + "  "
                        + gateway.hint("approve", approval.path("callId").asText());
            }
            default -> "";
        };
    }
}
