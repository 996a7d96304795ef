package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.DeadLetterView;
import dev.millrace.client.Route;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Which dead letters something is done with: one by its place, or all of a kind. */
final class LetterChoice {

    @Parameters(arity = "0..1", paramLabel = "CURSOR", description = "The place of one, as dead-letters lists it.")
    private @Nullable String cursor;

    @Option(names = "--reason", paramLabel = "CODE", description = "All with this code, such as unknown_agent.")
    private @Nullable String reason;

    @Option(names = "--task", paramLabel = "ID", description = "All of one task.")
    private @Nullable String task;

    @Option(names = "--type", paramLabel = "TYPE", description = "All of one type of event.")
    private @Nullable String type;

    /** Its place; {@code null} = all of a kind. */
    @Nullable
    String one() {
        boolean filtered = reason != null || task != null || type != null;
        if ((cursor == null) != filtered) {
            throw new CommandException(ExitCodes.USAGE, "expected CURSOR, or else --reason, --task or --type");
        }
        return cursor;
    }

    /** The route of what is done with one of them. */
    static String route(String cursor, String action) {
        return "/v1/dead-letters/" + Route.encoded(cursor) + '/' + action;
    }

    /** Does it with all of a kind, page by page, and gives each answer on. */
    void all(GatewayClient client, String action, Consumer<JsonNode> done) {
        String next = null;
        do {
            JsonNode answer = client.post(
                    "/v1/dead-letters/" + action,
                    new DeadLetterView.Filter(reason, task, type, null, next),
                    JsonNode.class);
            done.accept(answer);
            next = answer.path("next").textValue();
        } while (next != null);
    }
}
