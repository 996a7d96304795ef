package dev.millrace.gateway.rest;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Problem;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads what is in request bodies: bad JSON is told with the place where it is bad. */
final class BodyReader {
    private static final TypeReference<LinkedHashMap<String, @Nullable Object>> OBJECT = new TypeReference<>() {};

    private BodyReader() {}

    /**
     * Refuses a body that does not say that it is JSON: pages of other origins can send any text without asking first,
     * as long as they do not say that.
     */
    static void requireJson(HttpHeaders headers) {
        String type = headers.getHeaderString(HttpHeaders.CONTENT_TYPE);
        String bare = type == null ? "" : type.split(";", 2)[0].strip();
        if (!bare.equalsIgnoreCase(MediaType.APPLICATION_JSON)) {
            throw new ProblemException(
                    Problem.of(415, "unsupported_media_type", "Unsupported media type", expectedJson(type)));
        }
    }

    /** What was expected and found; {@code null} = no Content-Type. */
    static String expectedJson(@Nullable String found) {
        return "Content-Type: expected application/json, found " + (found == null ? "none" : '"' + found + '"') + ".";
    }

    static ProblemException tooLarge(long limit) {
        return new ProblemException(new Problem(
                413,
                "body_too_large",
                "The body is too large",
                "The body has more than " + limit + " bytes (millrace.gateway.max-body-size). Nothing was accepted.",
                Map.of("limitBytes", limit)));
    }

    /** The body as a JSON object. */
    static Map<String, @Nullable Object> object(byte[] bytes) {
        try {
            if (!isObject(bytes)) {
                throw badJson("expected a JSON object, found " + kind(tree(bytes)), null);
            }
            return Json.MAPPER.readValue(bytes, OBJECT);
        } catch (JsonProcessingException e) {
            throw badJson(e.getOriginalMessage(), e.getLocation());
        } catch (IOException e) {
            throw badJson(String.valueOf(e.getMessage()), null);
        }
    }

    private static boolean isObject(byte[] bytes) throws IOException {
        try (JsonParser parser = Json.MAPPER.createParser(bytes)) {
            return parser.nextToken() == JsonToken.START_OBJECT;
        }
    }

    /** The body as JSON of any kind. */
    static JsonNode tree(byte[] bytes) {
        try {
            JsonNode tree = Json.MAPPER.readTree(bytes);
            if (tree == null || tree.isMissingNode()) {
                throw badJson("expected JSON, found an empty body", null);
            }
            return tree;
        } catch (JsonProcessingException e) {
            throw badJson(e.getOriginalMessage(), e.getLocation());
        } catch (IOException e) {
            throw badJson(String.valueOf(e.getMessage()), null);
        }
    }

    private static ProblemException badJson(String what, @Nullable JsonLocation at) {
        Map<String, Object> more = new LinkedHashMap<>();
        String where = "";
        if (at != null && at.getLineNr() > 0) {
            more.put("line", at.getLineNr());
            more.put("column", at.getColumnNr());
            where = " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")";
        }
        return new ProblemException(new Problem(400, "bad_json", "The body is not valid JSON", what + where, more));
    }

    private static String kind(JsonNode tree) {
        return "a JSON " + tree.getNodeType().name().toLowerCase(Locale.ROOT);
    }
}
