package dev.millrace.tools.text;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code json_parse{text}}. */
public final class JsonParse implements Tool {

    static final int MAX_LENGTH = 1_000_000;

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "json_parse",
                "Parses a JSON text; says where it is wrong, if it is none.",
                object(Map.of("text", text("The JSON text.", MAX_LENGTH)), "text"),
                "tool",
                5_000,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) throws ToolException {
        try {
            Map<String, @Nullable Object> result = new LinkedHashMap<>();
            result.put("value", Json.MAPPER.readValue(String.valueOf(params.get("text")), Object.class));
            return result;
        } catch (JsonProcessingException e) {
            String place = e.getLocation() == null
                    ? ""
                    : " (line " + e.getLocation().getLineNr() + ", column "
                            + e.getLocation().getColumnNr() + ")";
            throw new ToolException("not_json", "text: expected JSON: " + first(e.getOriginalMessage()) + place);
        }
    }

    private static String first(String message) {
        return message.length() <= 200 ? message : message.substring(0, 200) + "…";
    }
}
