package dev.millrace.tools.java;

import com.fasterxml.classmate.ResolvedType;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.victools.jsonschema.generator.CustomDefinition;
import com.github.victools.jsonschema.generator.CustomDefinition.AttributeInclusion;
import com.github.victools.jsonschema.generator.CustomDefinition.DefinitionType;
import com.github.victools.jsonschema.generator.FieldScope;
import com.github.victools.jsonschema.generator.Option;
import com.github.victools.jsonschema.generator.OptionPreset;
import com.github.victools.jsonschema.generator.SchemaBuilder;
import com.github.victools.jsonschema.generator.SchemaGenerator;
import com.github.victools.jsonschema.generator.SchemaGeneratorConfigBuilder;
import com.github.victools.jsonschema.generator.SchemaVersion;
import com.github.victools.jsonschema.module.jackson.JacksonModule;
import com.github.victools.jsonschema.module.jackson.JacksonOption;
import com.github.victools.jsonschema.module.jakarta.validation.JakartaValidationModule;
import com.github.victools.jsonschema.module.jakarta.validation.JakartaValidationOption;
import dev.millrace.tool.api.Description;
import java.lang.annotation.Annotation;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Derives JSON Schemas (draft 2020-12) from Java types, as Jackson reads them. Of a record every component is required
 * that is not {@link Optional}; of any other class only what its {@code @JsonProperty(required = true)} says. A type
 * that is used more than once stands under {@code $defs}.
 */
final class JavaSchemas {

    private static final Map<Class<?>, String> SIMPLE = Map.ofEntries(
            Map.entry(byte.class, integer(Byte.MIN_VALUE, Byte.MAX_VALUE)),
            Map.entry(Byte.class, integer(Byte.MIN_VALUE, Byte.MAX_VALUE)),
            Map.entry(short.class, integer(Short.MIN_VALUE, Short.MAX_VALUE)),
            Map.entry(Short.class, integer(Short.MIN_VALUE, Short.MAX_VALUE)),
            Map.entry(int.class, integer(Integer.MIN_VALUE, Integer.MAX_VALUE)),
            Map.entry(Integer.class, integer(Integer.MIN_VALUE, Integer.MAX_VALUE)),
            Map.entry(BigInteger.class, "{\"type\":\"integer\"}"),
            Map.entry(Number.class, "{\"type\":\"number\"}"),
            Map.entry(char.class, "{\"type\":\"string\",\"minLength\":1,\"maxLength\":1}"),
            Map.entry(Character.class, "{\"type\":\"string\",\"minLength\":1,\"maxLength\":1}"),
            Map.entry(Instant.class, format("date-time")),
            Map.entry(OffsetDateTime.class, format("date-time")),
            Map.entry(ZonedDateTime.class, format("date-time")),
            Map.entry(LocalDate.class, format("date")),
            Map.entry(UUID.class, format("uuid")),
            Map.entry(URI.class, format("uri-reference")),
            Map.entry(LocalDateTime.class, "{\"type\":\"string\",\"description\":\"such as 2026-11-22T05:00:00\"}"),
            Map.entry(LocalTime.class, "{\"type\":\"string\",\"description\":\"such as 05:00:00\"}"),
            Map.entry(
                    Duration.class,
                    "{\"type\":\"string\",\"format\":\"duration\",\"description\":\"ISO 8601, such as PT1H30M\"}"),
            Map.entry(Object.class, "{}"));

    private final ObjectMapper mapper;
    private final SchemaGenerator generator;

    JavaSchemas(ObjectMapper mapper) {
        this.mapper = mapper;
        SchemaGeneratorConfigBuilder config = new SchemaGeneratorConfigBuilder(
                        mapper.copy(), SchemaVersion.DRAFT_2020_12, OptionPreset.PLAIN_JSON)
                .with(
                        Option.FORBIDDEN_ADDITIONAL_PROPERTIES_BY_DEFAULT,
                        Option.MAP_VALUES_AS_ADDITIONAL_PROPERTIES,
                        Option.PLAIN_DEFINITION_KEYS)
                .without(Option.SCHEMA_VERSION_INDICATOR, Option.FLATTENED_OPTIONALS)
                .with(new JacksonModule(JacksonOption.RESPECT_JSONPROPERTY_REQUIRED))
                .with(new JakartaValidationModule(JakartaValidationOption.INCLUDE_PATTERN_EXPRESSIONS));
        config.forTypesInGeneral()
                // as they are declared
                .withPropertySorter((unused, unusedOther) -> 0)
                .withCustomDefinitionProvider((type, context) -> definition(type))
                .withArrayUniqueItemsResolver(scope -> scope.getType().isInstanceOf(Set.class) ? true : null)
                .withDescriptionResolver(scope -> description(scope.getType().getErasedType()::getAnnotation));
        config.forFields()
                .withTargetTypeOverridesResolver(field -> field.getType().isInstanceOf(Optional.class)
                        ? List.of(field.getType().getTypeParameters().getFirst())
                        : null)
                .withRequiredCheck(JavaSchemas::isRequired)
                .withDescriptionResolver(field -> description(field::getAnnotationConsideringFieldAndGetter));
        this.generator = new SchemaGenerator(config.build());
    }

    /**
     * What makes the schemas of one tool.
     *
     * @throws IllegalArgumentException when asked for a type that has none, naming it
     */
    SchemaBuilder builder() {
        return generator.buildMultipleSchemaDefinitions();
    }

    /**
     * The schema, or all that are in it, with one description each: the generator leaves that of a component beside
     * that of its type, which it overrides.
     */
    static <T extends JsonNode> T described(T schema) {
        schema.forEach(JavaSchemas::described);
        if (schema instanceof ObjectNode object
                && object.path("allOf").path(0) instanceof ObjectNode type
                && object.path("allOf").path(1) instanceof ObjectNode component
                && component.properties().stream()
                        .allMatch(said -> said.getKey().equals("description") || !type.has(said.getKey()))) {
            object.remove("allOf");
            object.setAll(type);
            object.setAll(component);
        }
        return schema;
    }

    private @Nullable CustomDefinition definition(ResolvedType type) {
        Class<?> raw = type.getErasedType();
        ObjectNode schema = null;
        String simple = SIMPLE.get(raw);
        if (simple != null) {
            schema = read(simple);
        } else if (JsonNode.class.isAssignableFrom(raw)) {
            schema = mapper.createObjectNode();
        } else if (CharSequence.class.isAssignableFrom(raw)) {
            schema = mapper.createObjectNode().put("type", "string");
        } else if (raw.isEnum()) {
            schema = mapper.createObjectNode().put("type", "string");
            for (Object constant : raw.getEnumConstants()) {
                // as Jackson writes them, which @JsonProperty may change
                schema.withArray("enum").add(mapper.convertValue(constant, String.class));
            }
        } else if (isNoJson(raw)) {
            throw new IllegalArgumentException("expected a type that JSON can be read into, found " + raw.getName());
        }
        return schema == null ? null : new CustomDefinition(schema, DefinitionType.INLINE, AttributeInclusion.NO);
    }

    private static boolean isNoJson(Class<?> raw) {
        boolean known = raw.isPrimitive()
                || raw.isArray()
                || raw == Boolean.class
                || raw == Optional.class
                || Number.class.isAssignableFrom(raw)
                || Collection.class.isAssignableFrom(raw)
                || Map.class.isAssignableFrom(raw);
        return !known && (raw.getName().startsWith("java.") || raw.isInterface());
    }

    private static boolean isRequired(FieldScope field) {
        JsonProperty said = field.getAnnotationConsideringFieldAndGetter(JsonProperty.class);
        return field.getDeclaringType().getErasedType().isRecord()
                && field.getRawMember().getType() != Optional.class
                && (said == null || said.required());
    }

    private static @Nullable String description(
            Function<Class<? extends Annotation>, ? extends @Nullable Annotation> of) {
        if (of.apply(Description.class) instanceof Description ours) {
            return ours.value();
        }
        return of.apply(dev.langchain4j.model.output.structured.Description.class)
                        instanceof dev.langchain4j.model.output.structured.Description langChain4js
                ? String.join("\n", langChain4js.value())
                : null;
    }

    private static String integer(int minimum, int maximum) {
        return "{\"type\":\"integer\",\"minimum\":" + minimum + ",\"maximum\":" + maximum + "}";
    }

    private static String format(String format) {
        return "{\"type\":\"string\",\"format\":\"" + format + "\"}";
    }

    private ObjectNode read(String json) {
        try {
            return mapper.readValue(json, ObjectNode.class);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("expected a schema, found " + json, e);
        }
    }
}
