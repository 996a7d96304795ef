package dev.millrace.tools.text;

import static dev.millrace.tools.JsonSchemas.flag;
import static dev.millrace.tools.JsonSchemas.object;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code json_stringify{data,pretty?}}. */
public final class JsonStringify implements Tool {

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "json_stringify",
                "Writes data as a JSON text.",
                object(
                        Map.of(
                                "data", Map.of("description", "Any JSON value."),
                                "pretty", flag("Whether to indent it. Absent = no.")),
                        "data"),
                "tool",
                5_000,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) throws ToolException {
        try {
            Object data = params.get("data");
            String text = Boolean.TRUE.equals(params.get("pretty"))
                    ? Json.MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(data)
                    : Json.MAPPER.writeValueAsString(data);
            return Map.of("text", text);
        } catch (JsonProcessingException e) {
            throw new ToolException("not_json", "data: expected a JSON value: " + e.getOriginalMessage());
        }
    }
}
