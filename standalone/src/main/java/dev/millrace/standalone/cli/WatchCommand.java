package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.client.Route;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code millrace watch <session>}: what the agents of a conversation do, while they do it. */
@Command(
        name = "watch",
        footerHeading = "%nExamples:%n",
        footer = {"  watch notes", "  watch notes --until-idle"},
        description =
                "Shows what the agents of a conversation do while they do it, until it is interrupted: what happens a"
                        + " line each, and at a terminal what they say as they say it. Begins now; goes on by itself after"
                        + " a gateway was away.")
public final class WatchCommand extends ClientCommand {

    private static final Duration PATIENCE = Duration.ofSeconds(1);

    @Parameters(paramLabel = "SESSION", description = "The conversation; it need not have begun.")
    private String session = "";

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            defaultValue = MemoryClient.DEFAULT_NAMESPACE,
            description = "The tenant (default: ${DEFAULT-VALUE}).")
    private String namespace = MemoryClient.DEFAULT_NAMESPACE;

    @Option(
            names = "--until-idle",
            description =
                    "Wait for the next task of the conversation, and end as soon as it has ended and no other goes"
                            + " on.")
    private boolean untilIdle;

    @Override
    int run(GatewayClient client) throws InterruptedException {
        boolean json = output().json();
        Route path = new Route("/v1/sessions/" + Route.encoded(session) + "/stream")
                .with("namespace", namespace)
                .with("tokens", json || terminal().live() ? "stream" : null);
        SessionView view = new SessionView(terminal(), Colours.of(terminal()).on(), ZoneId.systemDefault());
        if (!json) {
            err("Watching " + session + "; interrupt to end.");
        }
        try (EventFeed feed = client.feed(path)) {
            while (!(untilIdle && view.isIdle())) {
                Optional<JsonNode> event = feed.next(PATIENCE);
                event.ifPresent(one -> {
                    if (json) {
                        output().print(one);
                        view.follow(one);
                    } else {
                        view.show(one);
                    }
                });
            }
        }
        return ExitCodes.DONE;
    }
}
