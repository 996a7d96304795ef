package dev.millrace.tools.java;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.BeanPropertyDefinition;
import dev.millrace.tool.api.Description;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Derives JSON Schemas (draft 2020-12) from Java types, as Jackson reads them. One per tool, for one thread.
 *
 * <p>Of a record every component is required that is no {@link Optional}; of any other class only what its {@code
 * @JsonProperty(required = true)} says.
 */
final class JavaSchemas {

    private static final Map<Class<?>, String> FORMATS = Map.ofEntries(
            Map.entry(Instant.class, "date-time"),
            Map.entry(OffsetDateTime.class, "date-time"),
            Map.entry(ZonedDateTime.class, "date-time"),
            Map.entry(LocalDateTime.class, ""),
            Map.entry(LocalDate.class, "date"),
            Map.entry(LocalTime.class, ""),
            Map.entry(Duration.class, "duration"),
            Map.entry(UUID.class, "uuid"),
            Map.entry(URI.class, "uri-reference"));

    private static final Map<Class<?>, String> EXAMPLES = Map.of(
            LocalDateTime.class, "such as 2026-11-22T05:00:00",
            LocalTime.class, "such as 05:00:00",
            Duration.class, "ISO 8601, such as PT1H30M");

    private final ObjectMapper mapper;
    private final Deque<JavaType> inProgress = new ArrayDeque<>();
    private final Set<JavaType> recursive = new HashSet<>();
    private final Map<String, Object> definitions = new LinkedHashMap<>();

    JavaSchemas(ObjectMapper mapper) {
        this.mapper = mapper;
    }

    /** The types that refer to themselves, by name; what {@link #of} gave refers to them under {@code $defs}. */
    Map<String, Object> definitions() {
        return definitions;
    }

    /**
     * The schema of a type.
     *
     * @throws IllegalArgumentException if there is none, naming the type
     */
    Map<String, @Nullable Object> of(JavaType type) {
        Class<?> raw = type.getRawClass();
        if (Optional.class.equals(raw)) {
            return of(type.containedTypeOrUnknown(0));
        }
        if (raw.isEnum()) {
            return enumeration(type);
        }
        if (Object.class.equals(raw) || JsonNode.class.isAssignableFrom(raw)) {
            return new LinkedHashMap<>();
        }
        Map<String, @Nullable Object> simple = simple(raw);
        if (simple != null) {
            return simple;
        }
        if (type.isArrayType() || type.isCollectionLikeType()) {
            Map<String, @Nullable Object> schema = typed("array");
            schema.put("items", of(type.getContentType()));
            if (Set.class.isAssignableFrom(raw)) {
                schema.put("uniqueItems", true);
            }
            return schema;
        }
        if (type.isMapLikeType()) {
            Map<String, @Nullable Object> schema = typed("object");
            schema.put("additionalProperties", of(type.getContentType()));
            return schema;
        }
        if (raw.getName().startsWith("java.") || raw.isInterface() || raw.isAnnotation()) {
            throw new IllegalArgumentException("expected a type that JSON can be read into, found " + raw.getName());
        }
        return object(type);
    }

    private static @Nullable Map<String, @Nullable Object> simple(Class<?> raw) {
        if (raw == boolean.class || raw == Boolean.class) {
            return typed("boolean");
        }
        if (raw == byte.class || raw == Byte.class) {
            return integer(Byte.MIN_VALUE, Byte.MAX_VALUE);
        }
        if (raw == short.class || raw == Short.class) {
            return integer(Short.MIN_VALUE, Short.MAX_VALUE);
        }
        if (raw == int.class || raw == Integer.class) {
            return integer(Integer.MIN_VALUE, Integer.MAX_VALUE);
        }
        if (raw == long.class || raw == Long.class || raw == BigInteger.class) {
            return typed("integer");
        }
        if (raw == float.class
                || raw == Float.class
                || raw == double.class
                || raw == Double.class
                || raw == BigDecimal.class
                || raw == Number.class) {
            return typed("number");
        }
        if (raw == char.class || raw == Character.class) {
            Map<String, @Nullable Object> schema = typed("string");
            schema.put("minLength", 1);
            schema.put("maxLength", 1);
            return schema;
        }
        if (CharSequence.class.isAssignableFrom(raw)) {
            return typed("string");
        }
        String format = FORMATS.get(raw);
        if (format == null) {
            return null;
        }
        Map<String, @Nullable Object> schema = typed("string");
        if (!format.isEmpty()) {
            schema.put("format", format);
        }
        if (EXAMPLES.containsKey(raw)) {
            schema.put("description", EXAMPLES.get(raw));
        }
        return schema;
    }

    private Map<String, @Nullable Object> enumeration(JavaType type) {
        Map<String, @Nullable Object> schema = typed("string");
        schema.put(
                "enum",
                Arrays.stream(type.getRawClass().getEnumConstants())
                        // as Jackson writes them, which @JsonProperty may change
                        .map(constant -> mapper.convertValue(constant, String.class))
                        .toList());
        return schema;
    }

    private Map<String, @Nullable Object> object(JavaType type) {
        if (inProgress.contains(type)) {
            recursive.add(type);
            return reference(type);
        }
        inProgress.push(type);
        Map<String, @Nullable Object> schema = typed("object");
        String about = description(type.getRawClass());
        if (about != null) {
            schema.put("description", about);
        }
        Map<String, Object> properties = new LinkedHashMap<>();
        List<String> required = new ArrayList<>();
        BeanDescription bean = mapper.getDeserializationConfig().introspect(type);
        for (BeanPropertyDefinition property : bean.findProperties()) {
            if (property.couldDeserialize()) {
                properties.put(property.getName(), property(property));
                if (isRequired(type, property)) {
                    required.add(property.getName());
                }
            }
        }
        inProgress.pop();
        schema.put("properties", properties);
        schema.put("required", required);
        schema.put("additionalProperties", false);
        if (recursive.contains(type)) {
            definitions.put(name(type), schema);
            return reference(type);
        }
        return schema;
    }

    private Map<String, @Nullable Object> property(BeanPropertyDefinition property) {
        Map<String, @Nullable Object> schema = new LinkedHashMap<>(of(property.getPrimaryType()));
        String about = description(property);
        if (about != null) {
            schema.put("description", about);
        }
        return schema;
    }

    private static boolean isRequired(JavaType type, BeanPropertyDefinition property) {
        return type.isRecordType()
                ? !Optional.class.equals(property.getPrimaryType().getRawClass())
                        && !Boolean.FALSE.equals(property.getMetadata().getRequired())
                : property.isRequired();
    }

    private static @Nullable String description(BeanPropertyDefinition property) {
        for (var member : new com.fasterxml.jackson.databind.introspect.AnnotatedMember[] {
            property.getConstructorParameter(), property.getField(), property.getGetter(), property.getSetter()
        }) {
            if (member != null) {
                Description ours = member.getAnnotation(Description.class);
                if (ours != null) {
                    return ours.value();
                }
                dev.langchain4j.model.output.structured.Description langChain4js =
                        member.getAnnotation(dev.langchain4j.model.output.structured.Description.class);
                if (langChain4js != null) {
                    return String.join("\n", langChain4js.value());
                }
                JsonPropertyDescription jacksons = member.getAnnotation(JsonPropertyDescription.class);
                if (jacksons != null) {
                    return jacksons.value();
                }
            }
        }
        return null;
    }

    private static @Nullable String description(Class<?> type) {
        Description ours = type.getAnnotation(Description.class);
        if (ours != null) {
            return ours.value();
        }
        dev.langchain4j.model.output.structured.Description langChain4js =
                type.getAnnotation(dev.langchain4j.model.output.structured.Description.class);
        if (langChain4js != null) {
            return String.join("\n", langChain4js.value());
        }
        JsonClassDescription jacksons = type.getAnnotation(JsonClassDescription.class);
        return jacksons == null ? null : jacksons.value();
    }

    private static Map<String, @Nullable Object> reference(JavaType type) {
        Map<String, @Nullable Object> reference = new LinkedHashMap<>();
        reference.put("$ref", "#/$defs/" + name(type));
        return reference;
    }

    private static String name(JavaType type) {
        return Objects.requireNonNull(type.getRawClass().getName()).replaceAll("[^A-Za-z0-9_]", "_");
    }

    private static Map<String, @Nullable Object> integer(long minimum, long maximum) {
        Map<String, @Nullable Object> schema = typed("integer");
        schema.put("minimum", minimum);
        schema.put("maximum", maximum);
        return schema;
    }

    private static Map<String, @Nullable Object> typed(String type) {
        Map<String, @Nullable Object> schema = new LinkedHashMap<>();
        schema.put("type", type);
        return schema;
    }
}
