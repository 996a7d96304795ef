package dev.millrace.schemas;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.Error;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * Turns what the schema validator finds into sentences: place, expected, found. Found texts are not repeated when long.
 */
final class SchemaProblems {

    /** How many problems are told of one event; the reader mends them and tries again. */
    private static final int MAX_SENTENCES = 10;
    /** A found text up to this many characters is quoted; of a longer one only the length is told. */
    private static final int MAX_QUOTED = 40;

    private SchemaProblems() {}

    static List<String> sentences(List<Error> errors) {
        if (errors.isEmpty()) {
            return List.of();
        }
        List<String> sentences = new ArrayList<>();
        Map<String, Set<String>> alternatives = new LinkedHashMap<>();
        for (Error error : errors) {
            String place = error.getInstanceLocation().toString();
            if (error.getKeyword().equals("required")
                    && error.getEvaluationPath().toString().contains("/anyOf/")) {
                alternatives
                        .computeIfAbsent(place, key -> new LinkedHashSet<>())
                        .add(error.getProperty());
            } else {
                sentences.add(sentence(place, error));
            }
        }
        alternatives.forEach((place, names) -> sentences.add(
                pointer(place) + ": expected one of the fields " + String.join(", ", names) + ", found none of them"));
        return sentences.stream().distinct().limit(MAX_SENTENCES).toList();
    }

    private static String sentence(String place, Error error) {
        JsonNode found = error.getInstanceNode();
        JsonNode rule = error.getSchemaNode();
        if (error.getKeyword().equals("required")) {
            return place + "/" + escaped(error.getProperty()) + ": expected a value, found none";
        }
        return pointer(place) + ": "
                + switch (error.getKeyword()) {
                    case "type" -> "expected " + types(rule) + ", found " + kind(found) + leaveOut(found);
                    case "minLength" -> "expected at least " + characters(rule) + ", found " + length(found);
                    case "maxLength" -> "expected at most " + characters(rule) + ", found " + length(found);
                    case "minimum" -> "expected " + rule.asText() + " or more, found " + quoted(found);
                    case "maximum" -> "expected " + rule.asText() + " or less, found " + quoted(found);
                    case "maxItems" -> "expected at most " + rule.asText() + " entries, found " + found.size();
                    case "enum" -> "expected one of " + values(rule) + ", found " + quoted(found);
                    case "const" -> "expected " + rule + ", found " + quoted(found);
                    case "pattern" -> "expected a text that matches " + rule.asText() + ", found " + quoted(found);
                    case "not" ->
                        "expected a text without the characters "
                                + rule.path("pattern").asText() + ", found " + quoted(found);
                    default -> error.getMessage();
                };
    }

    /** The whole document's pointer is empty, which reads like a mistake, so a slash stands for it. */
    private static String pointer(String place) {
        return place.isEmpty() ? "/" : place;
    }

    private static String escaped(String name) {
        return name.replace("~", "~0").replace("/", "~1");
    }

    private static String types(JsonNode rule) {
        return rule.isTextual()
                ? withArticle(rule.asText())
                : StreamSupport.stream(rule.spliterator(), false)
                        .map(type -> withArticle(type.asText()))
                        .collect(Collectors.joining(" or "));
    }

    private static String withArticle(String type) {
        return switch (type) {
            case "null" -> "null";
            case "string" -> "a text";
            case "boolean" -> "true or false";
            case "integer" -> "a whole number";
            case "array" -> "a list";
            case "object" -> "an object";
            default -> "a " + type;
        };
    }

    private static String kind(JsonNode found) {
        return switch (found.getNodeType()) {
            case NULL -> "null";
            case STRING -> "a text";
            case BOOLEAN -> found.asText();
            case NUMBER -> "the number " + quoted(found);
            case ARRAY -> "a list";
            case OBJECT -> "an object";
            default -> "something that is not JSON";
        };
    }

    private static String leaveOut(JsonNode found) {
        return found.isNull() ? "; leave the field out instead" : "";
    }

    private static String characters(JsonNode rule) {
        return rule.asText() + (rule.asInt() == 1 ? " character" : " characters");
    }

    private static String length(JsonNode found) {
        String text = found.asText();
        return Integer.toString(text.codePointCount(0, text.length()));
    }

    private static String values(JsonNode rule) {
        return StreamSupport.stream(rule.spliterator(), false)
                .map(JsonNode::asText)
                .collect(Collectors.joining(", "));
    }

    private static String quoted(JsonNode found) {
        String text = found.toString();
        return text.length() <= MAX_QUOTED ? text : "one of " + text.length() + " characters";
    }
}
