package dev.millrace.schemas;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NumericNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON as Java values that cannot change, of the kinds that {@link JsonObject} has. */
final class JsonValues {

    /**
     * Numbers at or beyond ten to this power, or as much smaller than one, are refused: no double holds them, and one
     * short text such as {@code 1e999999999} would otherwise cost gigabytes as soon as someone wants it as a whole
     * number.
     */
    static final int MAX_EXPONENT = 309;

    private static final int MAX_BITS = 1024;

    private JsonValues() {}

    /**
     * A copy that cannot change, at no cost if it is one already. The order of the fields stays.
     *
     * @throws IllegalArgumentException if there is anything that is no JSON value, or a number out of range
     */
    static JsonObject frozenObject(Map<?, ? extends @Nullable Object> object) {
        if (object instanceof JsonObject frozen) {
            return frozen;
        }
        Map<String, @Nullable Object> copy = LinkedHashMap.newLinkedHashMap(object.size());
        object.forEach((name, value) -> {
            if (!(name instanceof String text)) {
                throw new IllegalArgumentException("payload: expected texts as field names, found " + name);
            }
            copy.put(JsonText.wellFormed(text), frozen(value));
        });
        return new JsonObject(copy);
    }

    /** The same of a tree, as {@link Json#MAPPER} reads it. */
    static JsonObject frozenObject(JsonNode object) {
        Map<String, @Nullable Object> copy = LinkedHashMap.newLinkedHashMap(object.size());
        object.forEachEntry((name, value) -> copy.put(JsonText.wellFormed(name), frozen(value)));
        return new JsonObject(copy);
    }

    private static @Nullable Object frozen(JsonNode node) {
        return switch (node) {
            case ObjectNode object -> frozenObject(object);
            case ArrayNode array -> {
                List<@Nullable Object> copy = new ArrayList<>(array.size());
                array.forEach(inner -> copy.add(frozen(inner)));
                yield Collections.unmodifiableList(copy);
            }
            case TextNode text -> JsonText.wellFormed(text.textValue());
            case NumericNode number -> number(number.numberValue());
            case BooleanNode flag -> flag.booleanValue();
            default -> null;
        };
    }

    /**
     * Whether what was read can stay as it is: no text has half of a surrogate pair.
     *
     * @throws IllegalArgumentException if there is a number out of range
     */
    static boolean isClean(JsonNode node) {
        return switch (node) {
            case ObjectNode object -> {
                boolean clean = true;
                for (Map.Entry<String, JsonNode> field : object.properties()) {
                    clean &= JsonText.isWellFormed(field.getKey()) && isClean(field.getValue());
                }
                yield clean;
            }
            case ArrayNode array -> {
                boolean clean = true;
                for (JsonNode inner : array) {
                    clean &= isClean(inner);
                }
                yield clean;
            }
            case TextNode text -> JsonText.isWellFormed(text.textValue());
            case NumericNode number -> {
                number(number.numberValue());
                yield true;
            }
            default -> true;
        };
    }

    /** Frozen values as a tree; by hand, since the mapper's way through a token buffer takes several times as long. */
    static JsonNode tree(@Nullable Object value) {
        JsonNodeFactory nodes = Json.MAPPER.getNodeFactory();
        return switch (value) {
            case null -> nodes.nullNode();
            case String text -> nodes.textNode(text);
            case Boolean flag -> nodes.booleanNode(flag);
            case Integer number -> nodes.numberNode(number.intValue());
            case Long number -> nodes.numberNode(number.longValue());
            case BigInteger number -> nodes.numberNode(number);
            case BigDecimal number -> nodes.numberNode(number);
            case Map<?, ?> object -> {
                ObjectNode node = nodes.objectNode();
                object.forEach((name, inner) -> node.set(String.valueOf(name), tree(inner)));
                yield node;
            }
            case List<?> list -> {
                ArrayNode node = nodes.arrayNode(list.size());
                list.forEach(inner -> node.add(tree(inner)));
                yield node;
            }
            default ->
                throw new IllegalArgumentException(
                        "expected JSON values, found a " + value.getClass().getName());
        };
    }

    static @Nullable Object frozen(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case String text -> JsonText.wellFormed(text);
            case Boolean flag -> flag;
            case Number number -> number(number);
            case Map<?, ?> object -> frozenObject(object);
            case List<?> list -> {
                List<@Nullable Object> copy = new ArrayList<>(list.size());
                list.forEach(inner -> copy.add(frozen(inner)));
                yield Collections.unmodifiableList(copy);
            }
            default ->
                throw new IllegalArgumentException("payload: expected JSON values, found a "
                        + value.getClass().getName());
        };
    }

    private static Number number(Number number) {
        return switch (number) {
            case Integer small -> small;
            case Long whole -> whole(whole);
            case Short small -> small.intValue();
            case Byte small -> small.intValue();
            case BigInteger whole -> whole(whole);
            case BigDecimal decimal -> decimal(decimal);
            case Double real -> real(real);
            case Float real -> real(Double.parseDouble(real.toString()));
            default ->
                throw new IllegalArgumentException("payload: expected a JSON number, found a "
                        + number.getClass().getName());
        };
    }

    private static Number whole(long value) {
        if (value == (int) value) {
            return (int) value;
        }
        return value;
    }

    private static Number whole(BigInteger value) {
        if (value.bitLength() < Long.SIZE) {
            return whole(value.longValue());
        }
        if (value.bitLength() > MAX_BITS) {
            throw outOfRange();
        }
        return value;
    }

    private static BigDecimal real(double value) {
        if (!Double.isFinite(value)) {
            throw new IllegalArgumentException("payload: expected a JSON number, found " + value);
        }
        return new BigDecimal(Double.toString(value));
    }

    private static BigDecimal decimal(BigDecimal value) {
        long exponent = (long) value.precision() - value.scale();
        if (Math.abs(exponent) > MAX_EXPONENT || Math.abs((long) value.scale()) > 10L * MAX_EXPONENT) {
            throw outOfRange();
        }
        return value;
    }

    private static IllegalArgumentException outOfRange() {
        return new IllegalArgumentException(
                "payload: expected numbers in the range of a 64-bit floating point number, found one beyond it");
    }
}
