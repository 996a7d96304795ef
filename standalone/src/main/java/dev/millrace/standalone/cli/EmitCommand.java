package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code millrace emit}: says that something has happened, and prints the id of the event. */
@Command(
        name = "emit",
        description = "Sends an event to a running Millrace, of any type that its rules are to see, and prints its id.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  emit order.placed --session shop '{\"country\": \"IT\", \"total\": 59.9}'",
            "  emit file.changed --session notes --id notes-7 @change.json",
            "  curl -s https://example.org/build | millrace emit build.done -"
        })
public final class EmitCommand extends ClientCommand {

    @Mixin
    private EventData event = new EventData();

    @Option(names = "--session", paramLabel = "ID", description = "The conversation whose agent is to be given it.")
    private @Nullable String session;

    @Option(
            names = "--source",
            paramLabel = "NAME",
            defaultValue = "cli",
            description = "Who says so (default: ${DEFAULT-VALUE}).")
    private String source = "cli";

    @Option(
            names = "--ttl",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "From then on it is noted and nothing follows from it, such as 90s or 10m (default: never).")
    private @Nullable Duration ttl;

    @Override
    int run(GatewayClient client) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("ce-specversion", "1.0");
        headers.put("ce-id", encoded(event.id()));
        headers.put("ce-type", encoded(event.type()));
        headers.put("ce-source", encoded(source));
        if (session != null) {
            headers.put("ce-sessionid", encoded(session));
        }
        if (ttl != null) {
            headers.put("ce-expirytime", encoded(Instant.now().plus(ttl).toString()));
        }
        JsonNode accepted = client.post("/v1/events", event.json(), headers);
        accepted.path("accepted").forEach(one -> done(Map.of("eventId", one.asText()), one.asText()));
        return ExitCodes.DONE;
    }

    /** As the HTTP binding of CloudEvents wants what is not plain ASCII. */
    private static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
