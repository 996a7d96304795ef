package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

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

    private static final int MAX_BYTES = 16 << 20;

    @Parameters(index = "0", paramLabel = "TYPE", description = "What has happened, such as order.placed.")
    private String type = "";

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "DATA",
            description = "What the event brings: a JSON object, @FILE for one in a file, or - for standard input"
                    + " (default: nothing).")
    private @Nullable String data;

    @Option(names = "--session", paramLabel = "ID", description = "The conversation whose agent is to be given it.")
    private @Nullable String session;

    @Option(
            names = "--id",
            paramLabel = "ID",
            description = "Id of the event; the same one a second time does nothing (default: a new one).")
    private @Nullable String id;

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
        headers.put("ce-id", encoded(id == null ? Ids.random() : id));
        headers.put("ce-type", encoded(type));
        headers.put("ce-source", encoded(source));
        if (session != null) {
            headers.put("ce-sessionid", encoded(session));
        }
        if (ttl != null) {
            headers.put("ce-expirytime", encoded(Instant.now().plus(ttl).toString()));
        }
        JsonNode accepted = client.post("/v1/events", payload(), headers);
        accepted.path("accepted").forEach(one -> done(Map.of("eventId", one.asText()), one.asText()));
        return ExitCodes.DONE;
    }

    private byte[] payload() {
        if (data == null) {
            return Json.write(Map.of());
        }
        String where = data.equals("-") ? "standard input" : data.startsWith("@") ? data.substring(1) : "DATA";
        byte[] json;
        try {
            json = bytes(data);
        } catch (IOException e) {
            throw new CommandException(ExitCodes.FAILED, where + " cannot be read: " + e);
        }
        try {
            Map<String, @Nullable Object> unused = Json.readObject(json);
        } catch (MalformedEventException e) {
            throw new CommandException(ExitCodes.USAGE, where + ": " + e.getMessage());
        }
        return json;
    }

    private static byte[] bytes(String data) throws IOException {
        if (data.equals("-")) {
            // not closed: it is the process's own
            return limited(new FileInputStream(FileDescriptor.in));
        }
        if (data.startsWith("@")) {
            try (InputStream file = Files.newInputStream(Path.of(data.substring(1)))) {
                return limited(file);
            }
        }
        return data.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] limited(InputStream in) throws IOException {
        byte[] bytes = in.readNBytes(MAX_BYTES + 1);
        if (bytes.length > MAX_BYTES) {
            throw new IOException("expected at most " + MAX_BYTES + " bytes, found more");
        }
        return bytes;
    }

    /** As the HTTP binding of CloudEvents wants what is not plain ASCII. */
    private static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
