package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.client.Route;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace retry}: sends an event again that has failed, and prints the id of the new one. */
@Command(
        name = "retry",
        description = "Sends an event again that has failed, expired or was cancelled, and prints the new one's id.",
        footerHeading = "%nExamples:%n",
        footer = {"  retry build-17", "  retry build-17 --payload '{\"text\": \"Build 17 is broken. What changed?\"}'"})
public final class RetryCommand extends ClientCommand {

    @Parameters(paramLabel = "EVENT", description = "Its id, which is that of the task that it has started.")
    private String event = "";

    @Mixin
    private PayloadOption payload = new PayloadOption();

    @Option(names = "--namespace", paramLabel = "NAME", description = "Of this namespace (default: default).")
    private @Nullable String namespace;

    @Override
    int run(GatewayClient client) {
        JsonNode queued = client.post(
                new Route("/v1/queue/" + Route.encoded(event) + "/retry")
                        .with("namespace", namespace)
                        .toString(),
                payload.body(),
                JsonNode.class);
        done(queued, queued.path("id").asText());
        return ExitCodes.DONE;
    }
}
