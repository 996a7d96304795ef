package dev.millrace.tools.files;

import dev.millrace.tool.api.ToolException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How bytes become a text and back: {@code utf-8}, {@code latin1} or {@code base64}. */
enum TextEncoding {
    UTF_8("utf-8"),
    LATIN1("latin1"),
    BASE64("base64");

    private final String word;

    TextEncoding(String word) {
        this.word = word;
    }

    static Map<String, Object> schema(String description) {
        List<String> words =
                Arrays.stream(values()).map(encoding -> encoding.word).toList();
        return Map.of("type", "string", "enum", words, "description", description + " Absent = utf-8.");
    }

    /** The one with this word; UTF-8 if there is none. */
    static TextEncoding of(@Nullable Object word) {
        return Arrays.stream(values())
                .filter(encoding -> encoding.word.equals(word))
                .findFirst()
                .orElse(UTF_8);
    }

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
            throw new ToolException("not_text", "content: expected text that can be written as " + word);
        } catch (IllegalArgumentException e) {
            throw new ToolException("not_base64", "content: expected base64, found something else");
        }
    }

    private Charset charset() {
        return this == LATIN1 ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8;
    }
}
