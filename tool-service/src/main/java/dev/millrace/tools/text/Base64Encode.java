package dev.millrace.tools.text;

import static dev.millrace.tools.JsonSchemas.anyText;
import static dev.millrace.tools.JsonSchemas.object;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code base64_encode{text}}. */
public final class Base64Encode implements Tool {

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "base64_encode",
                "Writes a text (as UTF-8) in base64.",
                object(Map.of("text", anyText("The text.")), "text"),
                "tool",
                5_000,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) {
        byte[] bytes = String.valueOf(params.get("text")).getBytes(StandardCharsets.UTF_8);
        return Map.of("encoded", Base64.getEncoder().encodeToString(bytes));
    }
}
