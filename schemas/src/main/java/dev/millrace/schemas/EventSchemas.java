package dev.millrace.schemas;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The JSON Schemas (draft 2020-12) of the contract: one for an event as one object, one for the payload of each type of
 * the catalogue. Everyone who takes events from outside asks {@link #problems} before using one. Compiled
 * when the class is first used, about 0.3 s; safe for any thread.
 */
public final class EventSchemas {

    /** How deep the objects and lists of a payload from outside may lie in each other. */
    public static final int MAX_DEPTH = 100;

    private static final List<String> TOO_DEEP =
            List.of("/: expected at most " + MAX_DEPTH + " levels of objects and lists in each other, found more");
    private static final SchemaRegistry REGISTRY =
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);
    private static final Schema ENVELOPE = compile("event.json");
    private static final Map<EventType, Schema> PAYLOADS = compilePayloads();
    private static final Map<EnvironmentType, Schema> ENVIRONMENT = compileEnvironment();

    private EventSchemas() {}

    /**
     * What is wrong with the payload of this event: sentences for people, each with the JSON pointer of the place, what
     * was expected there and what was found. Empty = nothing. A type without a schema takes any payload of at most
     * {@link #MAX_DEPTH} levels; the other fields of an event are checked when it is made.
     */
    public static List<String> problems(Event event) {
        JsonNode payload;
        try {
            payload = forValidator(event.content().tree(), 1);
        } catch (TooDeepException e) {
            return TOO_DEEP;
        }
        Schema schema = PAYLOADS.get(event.type());
        return schema == null ? List.of() : SchemaProblems.sentences(schema.validate(payload));
    }

    /**
     * Why these JSON values cannot stand in a payload, for people; empty if they can.
     *
     * @param level how deep they would lie there: 2 = right below its fields
     */
    public static Optional<String> unfit(Map<String, ? extends @Nullable Object> values, int level) {
        try {
            forValidator(JsonValues.tree(JsonObject.of(values)), level);
            return Optional.empty();
        } catch (TooDeepException e) {
            return Optional.of("objects and lists more than " + (MAX_DEPTH - level + 1) + " levels deep");
        } catch (IllegalArgumentException e) {
            return Optional.of("a number beyond the range of a 64-bit floating point number");
        }
    }

    /** What is wrong with an event as one JSON object, as {@link EventJson} reads it, apart from its payload. */
    static List<String> envelopeProblems(JsonObject json) {
        try {
            return SchemaProblems.sentences(ENVELOPE.validate(forValidator(JsonValues.tree(json), 0)));
        } catch (TooDeepException e) {
            return TOO_DEEP;
        }
    }

    /** The schema of a type's payload, as it lies in the jar; empty if that type takes any payload. */
    public static Optional<JsonNode> payloadSchema(EventType type) {
        Schema schema = PAYLOADS.get(type);
        return schema == null ? Optional.empty() : Optional.of(schema.getSchemaNode());
    }

    /** What to expect in a payload of this type, which is no condition for taking one. */
    public static JsonNode expected(EnvironmentType type) {
        return schemaOf(type).getSchemaNode();
    }

    /** In which way a payload is not as {@link #expected}, as {@link #problems} would say it. */
    public static List<String> unexpected(EnvironmentType type, Event event) {
        try {
            return SchemaProblems.sentences(
                    schemaOf(type).validate(forValidator(event.content().tree(), 1)));
        } catch (TooDeepException e) {
            return TOO_DEEP;
        }
    }

    private static Schema schemaOf(EnvironmentType type) {
        return Objects.requireNonNull(ENVIRONMENT.get(type), type.wireName());
    }

    /** Names of the fields that the payload of a type has; empty if that type takes any payload. */
    public static Optional<Set<String>> fields(EventType type) {
        return payloadSchema(type).map(schema -> {
            Set<String> names = new TreeSet<>();
            schema.path("properties").fieldNames().forEachRemaining(names::add);
            return names;
        });
    }

    /** The schema of an event as one object, as it lies in the jar. */
    public static JsonNode envelopeSchema() {
        return ENVELOPE.getSchemaNode();
    }

    private static Map<EventType, Schema> compilePayloads() {
        Map<EventType, Schema> schemas = new HashMap<>();
        for (KnownEventType type : KnownEventType.values()) {
            String path = "payloads/" + type.name() + ".json";
            if (EventSchemas.class.getResource(path) != null) {
                schemas.put(type, compile(path));
            }
        }
        for (StreamType type : StreamType.values()) {
            schemas.put(type, compile("streams/" + type.wireName() + ".json"));
        }
        return Map.copyOf(schemas);
    }

    private static Map<EnvironmentType, Schema> compileEnvironment() {
        Map<EnvironmentType, Schema> schemas = new EnumMap<>(EnvironmentType.class);
        for (EnvironmentType type : EnvironmentType.values()) {
            schemas.put(type, compile("environment/" + type.wireName() + ".json"));
        }
        return schemas;
    }

    private static Schema compile(String path) {
        try (InputStream in = EventSchemas.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("the jar is not whole: it has no " + path);
            }
            Schema schema = REGISTRY.getSchema(in, InputFormat.JSON);
            schema.initializeValidators();
            return schema;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The tree as the validator wants it: whole numbers as such however they are written, since it compares the lowest
     * 64 bits of any other decimal.
     *
     * @param level how deep it lies
     */
    private static JsonNode forValidator(JsonNode node, int level) {
        return hasDecimals(node, level) ? withWholeNumbers(node) : node;
    }

    private static boolean hasDecimals(JsonNode node, int level) {
        boolean found = node.isBigDecimal();
        if (node.isContainerNode()) {
            if (level > MAX_DEPTH) {
                throw new TooDeepException();
            }
            for (JsonNode inner : node) {
                found |= hasDecimals(inner, level + 1);
            }
        }
        return found;
    }

    private static JsonNode withWholeNumbers(JsonNode node) {
        return switch (node) {
            case ObjectNode object -> {
                ObjectNode copy = object.objectNode();
                object.forEachEntry((name, inner) -> copy.set(name, withWholeNumbers(inner)));
                yield copy;
            }
            case ArrayNode array -> {
                ArrayNode copy = array.arrayNode(array.size());
                array.forEach(inner -> copy.add(withWholeNumbers(inner)));
                yield copy;
            }
            case DecimalNode number -> {
                BigDecimal shortest = number.decimalValue().stripTrailingZeros();
                yield shortest.scale() <= 0
                        ? JsonNodeFactory.instance.numberNode(shortest.toBigIntegerExact())
                        : number;
            }
            default -> node;
        };
    }

    private static final class TooDeepException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TooDeepException() {
            super(null, null, false, false);
        }
    }
}
