package dev.millrace.llm;

import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A model's wish to call a tool.
 *
 * @param toolCallId the provider's id of this call, unique within a conversation
 * @param toolName as the model wrote it; it may name a tool that does not exist
 * @param arguments JSON values (String, Number, Boolean, Map, List, null); empty if they were malformed
 * @param malformedArguments what the model wrote in place of a JSON object; null in the ordinary case
 */
public record ToolCallRequest(
        String toolCallId,
        String toolName,
        Map<String, @Nullable Object> arguments,
        @Nullable String malformedArguments) {

    // not in compact form: javac then forgets that the map's values may be null, and other modules could not build one
    public ToolCallRequest(
            String toolCallId,
            String toolName,
            Map<String, @Nullable Object> arguments,
            @Nullable String malformedArguments) {
        this.toolCallId = toolCallId;
        this.toolName = toolName;
        this.malformedArguments = malformedArguments;
        this.arguments = Collections.unmodifiableMap(new LinkedHashMap<>(arguments));
    }

    /** A call whose arguments are a JSON object. */
    public ToolCallRequest(String toolCallId, String toolName, Map<String, @Nullable Object> arguments) {
        this(toolCallId, toolName, arguments, null);
    }

    /**
     * An id for a call to which the model gave none: the same for the same model call and ordinal (counted from 0),
     * different for any other. {@code call_} and 24 lower-case hex characters.
     */
    public static String derivedId(String callId, int ordinal) {
        return "call_" + Ids.hash(callId + '\n' + ordinal).substring(0, 24);
    }

    /** The arguments as JSON text, or what the model wrote in their place. */
    public String writtenArguments() {
        return malformedArguments != null ? malformedArguments : Json.writeText(arguments);
    }
}
