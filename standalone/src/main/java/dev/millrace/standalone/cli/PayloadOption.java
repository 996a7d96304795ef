package dev.millrace.standalone.cli;

import dev.millrace.api.QueueItem;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Another payload for what is tried again. */
final class PayloadOption {

    @Option(
            names = "--payload",
            paramLabel = "JSON",
            description = "Another payload: a JSON object, or @FILE for one in a file (default: as it was).")
    private @Nullable String payload;

    /** Whether there is one. */
    boolean isGiven() {
        return payload != null;
    }

    /** The body of the request. */
    QueueItem.Retry body() {
        return new QueueItem.Retry(payload == null ? null : object(payload));
    }

    private static JsonObject object(String said) {
        String where = said.startsWith("@") ? said.substring(1) : "--payload";
        try {
            return Json.readObject(
                    said.startsWith("@") ? Files.readAllBytes(Path.of(where)) : said.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw CommandException.unreadable(where, e);
        } catch (MalformedEventException e) {
            throw new CommandException(ExitCodes.USAGE, where + ": " + e.getMessage());
        }
    }
}
