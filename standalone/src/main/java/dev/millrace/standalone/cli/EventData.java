package dev.millrace.standalone.cli;

import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** An event that a command sends: its type and id, and what it brings. */
final class EventData {

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

    @Option(
            names = "--id",
            paramLabel = "ID",
            description = "Id of the event; the same one a second time does nothing (default: a new one).")
    private @Nullable String id;

    /** The id of the event, a new one if none was given. */
    String id() {
        return id == null ? Ids.random() : id;
    }

    /** The type of the event. */
    String type() {
        return type;
    }

    /** The object as it was given. */
    byte[] json() {
        byte[] json = given();
        JsonObject unused = object(json);
        return json;
    }

    /** The object itself. */
    JsonObject object() {
        return object(given());
    }

    private byte[] given() {
        try {
            return data == null ? Json.write(Map.of()) : bytes(data);
        } catch (IOException e) {
            throw CommandException.unreadable(where(), e);
        }
    }

    private JsonObject object(byte[] json) {
        try {
            return Json.readObject(json);
        } catch (MalformedEventException e) {
            throw new CommandException(ExitCodes.USAGE, where() + ": " + e.getMessage());
        }
    }

    private String where() {
        if (data == null || !(data.equals("-") || data.startsWith("@"))) {
            return "DATA";
        }
        return data.equals("-") ? "standard input" : data.substring(1);
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
}
