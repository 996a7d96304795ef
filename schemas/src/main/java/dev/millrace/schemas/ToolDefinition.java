package dev.millrace.schemas;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import java.io.IOException;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A tool as the {@code definitions} topic carries it (key {@code tool/<name>}): what the model is told, and where its
 * calls go. In JSON only name, description and toolset must be there; the rest has the defaults named below.
 *
 * @param name unique; letters, digits, {@code _} and {@code -}, 1 to 64 characters
 * @param description what the tool does, for the model
 * @param parameters JSON Schema (draft 2020-12) of the arguments, an object schema; absent in JSON = no arguments. Copied,
 *     so that it cannot change
 * @param toolset whose request topic gets the calls, see {@link Topics#requests}; letters, digits, {@code .}, {@code _} and
 *     {@code -}, 1 to 64 characters
 * @param timeoutMs how long one execution may take, in milliseconds, 1 or more; absent in JSON = {@value #DEFAULT_TIMEOUT_MS}
 * @param sideEffects what a call does to the world; absent in JSON = the worst
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

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final Pattern TOOLSET = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final Map<String, @Nullable Object> NO_PARAMETERS = Map.of("type", "object");

    // written out, since javac forgets in compact form that the map's values may be null, and no other module could
    // pass one
    public ToolDefinition(
            String name,
            String description,
            Map<String, @Nullable Object> parameters,
            String toolset,
            long timeoutMs,
            SideEffects sideEffects) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "tool name: expected 1 to 64 letters, digits, '_' or '-', found \"" + name + "\"");
        }
        if (!TOOLSET.matcher(toolset).matches()) {
            throw new IllegalArgumentException("toolset of " + name
                    + ": expected 1 to 64 letters, digits, '.', '_' or '-', found \"" + toolset + "\"");
        }
        if (timeoutMs < 1) {
            throw new IllegalArgumentException("timeoutMs of " + name + ": expected 1 or more, found " + timeoutMs);
        }
        this.name = name;
        this.description = description;
        this.parameters = JsonValues.frozenObject(parameters);
        this.toolset = toolset;
        this.timeoutMs = timeoutMs;
        this.sideEffects = sideEffects;
    }

    @JsonCreator
    static ToolDefinition ofJson(
            @JsonProperty("name") @Nullable String name,
            @JsonProperty("description") @Nullable String description,
            @JsonProperty("parameters") @Nullable Map<String, @Nullable Object> parameters,
            @JsonProperty("toolset") @Nullable String toolset,
            @JsonProperty("timeoutMs") @Nullable Long timeoutMs,
            @JsonProperty("sideEffects") @Nullable SideEffects sideEffects) {
        return new ToolDefinition(
                required("name", name),
                required("description", description),
                parameters == null ? NO_PARAMETERS : parameters,
                required("toolset", toolset),
                timeoutMs == null ? DEFAULT_TIMEOUT_MS : timeoutMs,
                sideEffects == null ? SideEffects.DESTRUCTIVE : sideEffects);
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
            ToolDefinition definition = Json.MAPPER.readValue(value, ToolDefinition.class);
            if (definition == null) {
                throw new MalformedEventException("bad_definition", "expected a tool definition, found null");
            }
            return definition;
        } catch (ValueInstantiationException e) {
            Throwable refused = e.getCause();
            throw new MalformedEventException(
                    "bad_definition",
                    "expected a tool definition: " + (refused == null ? e.getOriginalMessage() : refused.getMessage()));
        } catch (JsonProcessingException e) {
            throw new MalformedEventException(
                    "bad_definition", "expected a tool definition: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new MalformedEventException("bad_definition", "expected a tool definition: " + e.getMessage());
        }
    }

    private static String required(String field, @Nullable String value) {
        if (value == null) {
            throw new IllegalArgumentException(field + ": expected a text, found none");
        }
        return value;
    }
}
