package dev.millrace.tools.files;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.tool.api.ToolException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** How bytes become a text and back: {@code utf-8}, {@code latin1} or {@code base64}. */
enum TextEncoding {
    @JsonProperty("utf-8")
    UTF_8,
    @JsonProperty("latin1")
    LATIN1,
    @JsonProperty("base64")
    BASE64;

    /**
     * The bytes as text.
     *
     * @throws ToolException with code {@code not_text} if they are none
     */
    String decode(String path, byte[] bytes) throws ToolException {
        try {
            return switch (this) {
                case BASE64 -> Base64.getEncoder().encodeToString(bytes);
                case UTF_8, LATIN1 ->
                    charset().newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            };
        } catch (CharacterCodingException e) {
            throw new ToolException(
                    "not_text", "File \"" + path + "\" is not UTF-8 text; read it with encoding latin1 or base64");
        }
    }

    /**
     * The text as bytes.
     *
     * @throws ToolException with code {@code not_text} if it cannot be written so, or {@code not_base64}
     */
    byte[] encode(String text) throws ToolException {
        try {
            return switch (this) {
                case BASE64 -> Base64.getDecoder().decode(text);
                case UTF_8, LATIN1 -> {
                    ByteBuffer buffer = charset().newEncoder().encode(CharBuffer.wrap(text));
                    byte[] bytes = new byte[buffer.remaining()];
                    buffer.get(bytes);
                    yield bytes;
                }
            };
        } catch (CharacterCodingException e) {
            throw new ToolException(
                    "not_text",
                    "content: expected text that can be written as " + (this == LATIN1 ? "latin1" : "utf-8"));
        } catch (IllegalArgumentException e) {
            throw new ToolException("not_base64", "content: expected base64, found something else");
        }
    }

    private Charset charset() {
        return this == LATIN1 ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8;
    }
}
