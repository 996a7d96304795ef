package dev.millrace.schemas;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.type.TypeReference;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A tool as the {@code definitions} topic carries it (key {@code tool/<name>}): what the model is told, and where its
 * calls go.
 *
 * @param name unique; letters, digits, {@code _} and {@code -}, 1 to 64 characters
 * @param description what the tool does, for the model
 * @param parameters JSON Schema (draft 2020-12) of the arguments, an object schema
 * @param toolset whose request topic gets the calls, see {@link Topics#requests}
 * @param timeoutMs how long one execution may take, in milliseconds, 1 or more
 * @param sideEffects what a call does to the world
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ToolDefinition(
        String name,
        String description,
        Map<String, @Nullable Object> parameters,
        String toolset,
        long timeoutMs,
        SideEffects sideEffects) {

    /** The time-out of a tool that states none (F-160, X-14), in milliseconds. */
    public static final long DEFAULT_TIMEOUT_MS = 30_000;

    /** What a call does to the world, in the words of MCP's tool annotations. */
    public enum SideEffects {
        /** Changes nothing. */
        READ_ONLY,
        /** Changes something, and a second equal call changes nothing more. */
        IDEMPOTENT,
        /** Each call may change or destroy something. */
        DESTRUCTIVE
    }

    private static final TypeReference<ToolDefinition> TYPE = new TypeReference<>() {};

    public ToolDefinition {
        if (!name.matches("[A-Za-z0-9_-]{1,64}")) {
            throw new IllegalArgumentException(
                    "tool name: expected 1 to 64 letters, digits, '_' or '-', found \"" + name + "\"");
        }
        if (timeoutMs < 1) {
            throw new IllegalArgumentException("timeoutMs of " + name + ": expected 1 or more, found " + timeoutMs);
        }
    }

    /** The record key on the {@code definitions} topic. */
    public static String key(String toolName) {
        return "tool/" + toolName;
    }

    /** This definition as the value of a record. */
    public byte[] toJson() {
        return Json.write(this);
    }

    /**
     * Reads a record's value.
     *
     * @throws MalformedEventException with code {@code bad_definition} if it is no tool definition
     */
    public static ToolDefinition fromJson(byte[] value) throws MalformedEventException {
        try {
            return Json.MAPPER.readValue(value, TYPE);
        } catch (IOException e) {
            throw new MalformedEventException("bad_definition", "expected a tool definition: " + e.getMessage());
        }
    }
}
