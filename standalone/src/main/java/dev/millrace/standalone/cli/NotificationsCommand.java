package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.Approval;
import dev.millrace.api.Notice;
import dev.millrace.client.Route;
import dev.millrace.schemas.Json;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace notifications}: what tasks have to say to their owners, as it comes. */
@Command(
        name = "notifications",
        footerHeading = "%nExamples:%n",
        footer = {"  notifications --types approval_needed,question", "  notifications --session notes --count 1 --json"
        },
        description = {
            "Shows what tasks have to say to their owners, as it comes: that they ended, ask something, or need an"
                    + " approval. Goes on until it is stopped."
        })
public final class NotificationsCommand extends ClientCommand {

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

    @Override
    int run(GatewayClient client) throws InterruptedException {
        Route query = new Route("/v1/notifications")
                .with("taskId", task)
                .with("sessionId", session)
                .with("types", types);
        try (EventFeed feed = client.feed(query)) {
            for (int shown = 0; count <= 0 || shown < count; ) {
                Optional<JsonNode> told = feed.next(LOOK_AGAIN);
                if (told.isPresent()) {
                    if (output().json()) {
                        output().print(told.get());
                    } else {
                        Notice notice = Json.MAPPER.convertValue(told.get(), Notice.class);
                        out(notice.taskId() + "  " + notice.type() + "  " + says(notice, client));
                    }
                    shown++;
                }
            }
            return ExitCodes.DONE;
        }
    }

    private static String says(Notice notice, GatewayClient client) {
        if (notice.approval() != null) {
            Approval asked = Json.MAPPER.convertValue(notice.approval(), Approval.class);
            return asked.toolName() + ' ' + Progress.cut(Json.writeText(asked.params())) + "  "
                    + client.hint("approve", asked.callId());
        }
        String words = Stream.of(notice.error(), notice.reason(), notice.message(), notice.question())
                .flatMap(Stream::ofNullable)
                .findFirst()
                .orElseGet(() -> response(notice));
        return Progress.cut(words) + (notice.code() == null ? "" : " (" + notice.code() + ")");
    }

    private static String response(Notice notice) {
        Object response = notice.result() == null ? null : notice.result().get("response");
        return response == null ? "" : response.toString();
    }
}
