package dev.millrace.tools.text;

import static dev.millrace.tools.JsonSchemas.anyText;
import static dev.millrace.tools.JsonSchemas.object;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code base64_decode{encoded}}: takes the standard alphabet and the one for URLs, with line breaks or without. */
public final class Base64Decode implements Tool {

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "base64_decode",
                "Reads a text (UTF-8) from base64.",
                object(Map.of("encoded", anyText("The base64, also that for URLs.")), "encoded"),
                "tool",
                5_000,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) throws ToolException {
        String encoded = String.valueOf(params.get("encoded"))
                .replaceAll("\\s+", "")
                .replace('-', '+')
                .replace('_', '/');
        try {
            byte[] bytes = Base64.getDecoder().decode(encoded);
            return Map.of(
                    "text",
                    StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(bytes))
                            .toString());
        } catch (IllegalArgumentException e) {
            throw new ToolException("not_base64", "encoded: expected base64, found something else");
        } catch (CharacterCodingException e) {
            throw new ToolException("not_text", "encoded: the bytes are not UTF-8 text");
        }
    }
}
