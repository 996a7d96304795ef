package dev.millrace.gateway.rest.requests;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.type.LogicalType;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.problems.ProblemMappers;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Problem;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads request bodies as records of the API. What is wrong is told with what was expected and found, and where. */
public final class BodyReader {

    /** A text is no number and a number is no text. */
    private static final ObjectMapper STRICT = strict();

    private BodyReader() {}

    private static ObjectMapper strict() {
        ObjectMapper mapper = Json.MAPPER.copy();
        for (LogicalType scalar : List.of(LogicalType.Textual, LogicalType.Integer, LogicalType.Boolean)) {
            for (CoercionInputShape shape : CoercionInputShape.values()) {
                mapper.coercionConfigFor(scalar).setCoercion(shape, CoercionAction.Fail);
            }
        }
        mapper.coercionConfigFor(LogicalType.Integer)
                .setCoercion(CoercionInputShape.Integer, CoercionAction.TryConvert);
        return mapper;
    }

    /**
     * Refuses a body that does not say that it is JSON: pages of other origins can send any text without asking first,
     * as long as they do not say that.
     */
    public static void requireJson(HttpHeaders headers) {
        requireJson(headers, MediaType.APPLICATION_JSON);
    }

    /** The same of a body that may also say that it is of this kind of JSON. */
    public static void requireJson(HttpHeaders headers, String kind) {
        String type = headers.getHeaderString(HttpHeaders.CONTENT_TYPE);
        String bare = type == null ? "" : type.split(";", 2)[0].strip();
        if (!bare.equalsIgnoreCase(MediaType.APPLICATION_JSON) && !bare.equalsIgnoreCase(kind)) {
            throw new ProblemException(Problem.of(
                    415, "unsupported_media_type", "Unsupported media type", ProblemMappers.expectedJson(type)));
        }
    }

    static ProblemException tooLarge(long limit) {
        return new ProblemException(new Problem(
                413,
                "body_too_large",
                "The body is too large",
                "The body has more than " + limit + " bytes (millrace.gateway.max-body-size). Nothing was accepted.",
                Map.of("limitBytes", limit)));
    }

    /**
     * The body as a record.
     *
     * @throws ProblemException if a field is none of the record's, or of another kind
     */
    public static <T extends Record> T read(byte[] bytes, Class<T> type) {
        return read(object(bytes), type);
    }

    /** The same of a body that is a tree by now. */
    public static <T extends Record> T read(ObjectNode body, Class<T> type) {
        RecordComponent[] fields = type.getRecordComponents();
        requireFields(body, fields, "");
        try {
            return STRICT.treeToValue(body, type);
        } catch (JsonMappingException e) {
            String name = e.getPath().getFirst().getFieldName();
            Class<?> kind = Arrays.stream(fields)
                    .filter(field -> field.getName().equals(name))
                    .findFirst()
                    .<Class<?>>map(RecordComponent::getType)
                    .orElse(Object.class);
            throw ProblemException.badField(name, words(kind), Json.MAPPER.convertValue(body.get(name), Object.class));
        } catch (JsonProcessingException e) {
            throw badJson(e.getOriginalMessage(), null);
        }
    }

    /** Refuses fields that the record has not, nor a record in it. */
    private static void requireFields(ObjectNode body, RecordComponent[] fields, String where) {
        requireKnown(
                body.properties().stream().map(Map.Entry::getKey).toList(),
                Arrays.stream(fields).map(RecordComponent::getName).collect(Collectors.toCollection(TreeSet::new)),
                where);
        for (RecordComponent field : fields) {
            if (field.getType().isRecord() && body.get(field.getName()) instanceof ObjectNode inner) {
                requireFields(inner, field.getType().getRecordComponents(), " in `" + field.getName() + '`');
            }
        }
    }

    /**
     * A part of a body, or all of it, as a record that takes what it does not know.
     *
     * @throws JsonMappingException if a field is of another kind
     */
    public static <T extends Record> T readLeniently(JsonNode json, Class<T> type) throws JsonProcessingException {
        return STRICT.treeToValue(json, type);
    }

    /** What a value of this type is in JSON, for people. */
    public static String words(Class<?> type) {
        if (type == String.class) {
            return "a text";
        }
        if (type == Boolean.class) {
            return "true or false";
        }
        if (Number.class.isAssignableFrom(type)) {
            return "a whole number";
        }
        return Collection.class.isAssignableFrom(type) ? "a list" : "an object";
    }

    /**
     * A text of a body that is not all blank and has at most so many characters, or none.
     *
     * @throws ProblemException if it is another one
     */
    public static @Nullable String text(String field, @Nullable String value, int most) {
        if (value != null && (value.isBlank() || value.length() > most)) {
            throw ProblemException.badField(field, "a text of 1 to " + most + " characters", value);
        }
        return value;
    }

    /**
     * Refuses names that are none of these: a field that nobody reads is a mistake of whoever sent it.
     *
     * @param where they stand, for people, with a blank before it; may be empty
     * @throws ProblemException that names them, and the nearest that there are
     */
    public static void requireKnown(Collection<String> names, SortedSet<String> known, String where) {
        List<String> unknown =
                names.stream().filter(name -> !known.contains(name)).toList();
        if (!unknown.isEmpty()) {
            throw ProblemException.unknownNames(
                    new ProblemException.Kind("unknown_field", "field", "fields"), unknown, known, where);
        }
    }

    /** The body as a JSON object. */
    public static ObjectNode object(byte[] bytes) {
        JsonNode tree = tree(bytes);
        if (tree instanceof ObjectNode object) {
            return object;
        }
        throw badJson(
                "expected a JSON object, found a JSON "
                        + tree.getNodeType().name().toLowerCase(Locale.ROOT),
                null);
    }

    /** The body as JSON of any kind. */
    public static JsonNode tree(byte[] bytes) {
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
        if (at == null || at.getLineNr() < 1) {
            return new ProblemException(Problem.of(400, "bad_json", "The body is not valid JSON", what));
        }
        return new ProblemException(new Problem(
                400,
                "bad_json",
                "The body is not valid JSON",
                what + " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")",
                Map.of("line", at.getLineNr(), "column", at.getColumnNr())));
    }
}
