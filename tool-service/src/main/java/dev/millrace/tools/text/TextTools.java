package dev.millrace.tools.text;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.schemas.Json;
import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolException;
import jakarta.validation.constraints.Size;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Tools on texts and data alone. */
public final class TextTools {

    private static final int MAX_QUOTED = 200;

    /** What a JSON text says. */
    record Parsed(@Nullable Object value) {}

    /** A text that was made. */
    record Text(String text) {}

    /** A text in base64. */
    record Encoded(String encoded) {}

    @Tool(
            name = "json_parse",
            value = "Parses a JSON text; says where it is wrong, if it is none.",
            sideEffects = SideEffects.READ_ONLY,
            timeoutMs = 5_000)
    Parsed jsonParse(@Param("The JSON text.") @Size(min = 1, max = 1_000_000) String text) throws ToolException {
        try {
            return new Parsed(Json.MAPPER.readValue(text, Object.class));
        } catch (JsonProcessingException e) {
            String place = e.getLocation() == null
                    ? ""
                    : " (line " + e.getLocation().getLineNr() + ", column "
                            + e.getLocation().getColumnNr() + ")";
            throw new ToolException("not_json", "text: expected JSON: " + first(e.getOriginalMessage()) + place);
        }
    }

    private static String first(String message) {
        return message.length() <= MAX_QUOTED ? message : message.substring(0, MAX_QUOTED) + "…";
    }

    @Tool(
            name = "json_stringify",
            value = "Writes data as a JSON text.",
            sideEffects = SideEffects.READ_ONLY,
            timeoutMs = 5_000)
    Text jsonStringify(
            @Param("Any JSON value.") @Nullable Object data,
            @Param("Whether to indent it. Absent = no.") Optional<Boolean> pretty)
            throws ToolException {
        try {
            return new Text(
                    pretty.orElse(false)
                            ? Json.MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(data)
                            : Json.MAPPER.writeValueAsString(data));
        } catch (JsonProcessingException e) {
            throw new ToolException("not_json", "data: expected a JSON value: " + e.getOriginalMessage());
        }
    }

    @Tool(
            name = "base64_encode",
            value = "Writes a text (as UTF-8) in base64.",
            sideEffects = SideEffects.READ_ONLY,
            timeoutMs = 5_000)
    Encoded base64Encode(@Param("The text.") String text) {
        return new Encoded(Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** Takes the standard alphabet and the one for URLs, with line breaks or without. */
    @Tool(
            name = "base64_decode",
            value = "Reads a text (UTF-8) from base64.",
            sideEffects = SideEffects.READ_ONLY,
            timeoutMs = 5_000)
    Text base64Decode(@Param("The base64, also that for URLs.") String encoded) throws ToolException {
        String standard = encoded.replaceAll("\\s+", "").replace('-', '+').replace('_', '/');
        try {
            ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(standard));
            return new Text(StandardCharsets.UTF_8.newDecoder().decode(bytes).toString());
        } catch (IllegalArgumentException e) {
            throw new ToolException("not_base64", "encoded: expected base64, found something else");
        } catch (CharacterCodingException e) {
            throw new ToolException("not_text", "encoded: the bytes are not UTF-8 text");
        }
    }
}
