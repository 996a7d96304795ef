package dev.millrace.llm.scripted;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.InjectableValues;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.cfg.MapperConfig;
import com.fasterxml.jackson.databind.deser.std.StdDelegatingDeserializer;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.introspect.AnnotatedClass;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.type.LogicalType;
import com.fasterxml.jackson.databind.util.StdConverter;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One YAML document, which Jackson binds to records: strictly, and with complaints that name the line, the path ({@code
 * rules[2].text}), what is expected and what is found. Aliases and second documents are refused.
 */
final class ScriptYaml {

    private static final YAMLMapper YAML = new YAMLMapper();

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .annotationIntrospector(new LowerCaseEnums())
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .withCoercionConfig(LogicalType.Textual, config -> {
                for (CoercionInputShape shape : CoercionInputShape.values()) {
                    config.setCoercion(shape, CoercionAction.Fail);
                }
            })
            .addModule(new SimpleModule()
                    .addDeserializer(Integer.class, new WholeNumber())
                    .addDeserializer(Pattern.class, new StdDelegatingDeserializer<>(new Regex())))
            .withConfigOverride(List.class, list -> list.setSetterInfo(JsonSetter.Value.forContentNulls(Nulls.FAIL)))
            .build();

    private final String source;
    private final YAMLParser parser;
    private final Map<String, Place> places = new HashMap<>();

    private record Place(int line, JsonNode node) {}

    private ScriptYaml(String source, YAMLParser parser) {
        this.source = source;
        this.parser = parser;
    }

    static ScriptYaml parse(String source, String yaml) {
        try (YAMLParser parser = YAML.getFactory().createParser(yaml)) {
            ScriptYaml document = new ScriptYaml(source, parser);
            if (parser.nextToken() == null) {
                throw new InvalidScriptException(source, 1, "expected a mapping with rules, found an empty file");
            }
            document.node("");
            if (parser.nextToken() != null) {
                throw new InvalidScriptException(source, document.line(), "expected one document, found a second one");
            }
            return document;
        } catch (JsonProcessingException e) {
            int line = e.getLocation() == null ? 1 : Math.max(1, e.getLocation().getLineNr());
            throw new InvalidScriptException(source, line, "not YAML: " + withoutExcerpts(e.getOriginalMessage()));
        } catch (IOException e) {
            throw new InvalidScriptException(source, "cannot be read: " + e.getMessage());
        }
    }

    private JsonNode node(String path) throws IOException {
        if (parser.isCurrentAlias()) {
            throw new InvalidScriptException(source, line(), "aliases are not supported; write the part out");
        }
        int line = line();
        JsonNode node = read(path);
        places.put(path, new Place(line, node));
        return node;
    }

    private JsonNode read(String path) throws IOException {
        if (parser.currentToken() == JsonToken.START_OBJECT) {
            ObjectNode mapping = MAPPER.createObjectNode();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String key = parser.currentName();
                int line = line();
                parser.nextToken();
                if (mapping.replace(key, node(path.isEmpty() ? key : path + "." + key)) != null) {
                    throw new InvalidScriptException(source, line, "the key \"" + key + "\" is there twice");
                }
            }
            return mapping;
        }
        if (parser.currentToken() == JsonToken.START_ARRAY) {
            ArrayNode list = MAPPER.createArrayNode();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                list.add(node(path + "[" + list.size() + "]"));
            }
            return list;
        }
        return YAML.readTree(parser);
    }

    private int line() {
        return parser.currentTokenLocation().getLineNr();
    }

    /**
     * The mapping at a path; empty = the whole document.
     *
     * @throws InvalidScriptException if it is none
     */
    ObjectNode mapping(String path) {
        if (found(path) instanceof ObjectNode mapping) {
            return mapping;
        }
        throw problem(path, "expected a mapping, found " + kind(found(path)));
    }

    /**
     * Binds a mapping to a record.
     *
     * @param path where the mapping is
     * @param context what the record may ask for with {@code @JacksonInject}
     */
    <T> T bind(String path, ObjectNode node, Class<T> type, Script.Context context) {
        try {
            return MAPPER.readerFor(type)
                    .with(new InjectableValues.Std().addValue(Script.Context.class, context))
                    .readValue(node);
        } catch (JsonMappingException e) {
            throw problem(path, e);
        } catch (IOException e) {
            throw problem(path, e.getMessage());
        }
    }

    /** A complaint about a place; the line is that of the nearest place around it that the document has. */
    InvalidScriptException problem(String path, @Nullable String problem) {
        return new InvalidScriptException(
                source, lineOf(path), (path.isEmpty() ? "the script" : path) + ": " + problem);
    }

    /** A complaint about a key that a mapping should not have. */
    InvalidScriptException unknown(String mapping, String key, Collection<?> known) {
        String keys = new TreeSet<>(known).stream().map(String::valueOf).collect(Collectors.joining(", "));
        return new InvalidScriptException(
                source,
                lineOf(mapping.isEmpty() ? key : mapping + "." + key),
                (mapping.isEmpty() ? "the script" : mapping) + ": unknown key \"" + key + "\", expected one of "
                        + keys);
    }

    private int lineOf(String path) {
        Place place = places.get(path);
        return place == null
                ? lineOf(path.substring(0, Math.max(0, Math.max(path.lastIndexOf('.'), path.lastIndexOf('[')))))
                : place.line();
    }

    private JsonNode found(String path) {
        Place place = places.get(path);
        return place == null ? MissingNode.getInstance() : place.node();
    }

    private InvalidScriptException problem(String base, JsonMappingException e) {
        StringBuilder within = new StringBuilder(base);
        String holder = base;
        for (JsonMappingException.Reference step : e.getPath()) {
            holder = within.toString();
            if (step.getFieldName() == null) {
                within.append('[').append(step.getIndex()).append(']');
            } else {
                within.append(within.isEmpty() ? "" : ".").append(step.getFieldName());
            }
        }
        String path = within.toString();
        return switch (e) {
            case UnrecognizedPropertyException unknown ->
                unknown(holder, unknown.getPropertyName(), unknown.getKnownPropertyIds());
            case MismatchedInputException mismatch -> {
                JsonNode found = found(path);
                boolean text = mismatch.getTargetType() == String.class && found.isValueNode() && !found.isNull();
                yield problem(
                        path,
                        "expected " + expected(mismatch.getTargetType()) + ", found " + kind(found)
                                + (text ? " (put it in quotes)" : ""));
            }
            default ->
                switch (e.getCause()) {
                    case WrongKeyException wrong ->
                        problem(path.isEmpty() ? wrong.key : path + "." + wrong.key, wrong.getMessage());
                    case PatternSyntaxException pattern ->
                        problem(
                                path,
                                "expected a regular expression (Java), found one with: " + pattern.getDescription()
                                        + (pattern.getIndex() < 0
                                                ? ""
                                                : " near character " + (pattern.getIndex() + 1)));
                    case IllegalArgumentException wrong -> problem(path, wrong.getMessage());
                    case null, default -> problem(path, e.getOriginalMessage());
                };
        };
    }

    /** What a value of this type looks like, for messages. */
    static String expected(Class<?> type) {
        if (type.isEnum()) {
            return "one of " + String.join(", ", LowerCaseEnums.names((Enum<?>[]) type.getEnumConstants()));
        }
        JsonClassDescription description = type.getAnnotation(JsonClassDescription.class);
        return description != null
                ? description.value()
                : switch (type.getSimpleName()) {
                    case "String" -> "a text";
                    case "Boolean", "boolean" -> "true or false";
                    case "Integer" -> "a whole number from 0 to " + Integer.MAX_VALUE;
                    default -> Collection.class.isAssignableFrom(type) ? "a list" : "a mapping";
                };
    }

    /** What it is, for messages. */
    static String kind(JsonNode node) {
        return switch (node.getNodeType()) {
            case OBJECT, POJO -> "a mapping";
            case ARRAY -> "a list";
            case STRING, BINARY -> "the text \"" + node.asText() + "\"";
            case NUMBER -> "the number " + node.asText();
            case BOOLEAN -> node.asText();
            case NULL, MISSING -> "nothing";
        };
    }

    /** Without the excerpts from the file, which the parser indents. */
    private static String withoutExcerpts(String message) {
        return message.lines()
                .filter(line -> !line.isBlank() && !line.startsWith(" "))
                .collect(Collectors.joining(": "));
    }

    /** What a record says of one of its keys. */
    static final class WrongKeyException extends IllegalArgumentException {
        private final String key;

        WrongKeyException(String key, String problem) {
            super(problem);
            this.key = key;
        }
    }

    /** Constants by their names in lower snake case. */
    private static final class LowerCaseEnums extends JacksonAnnotationIntrospector {

        static String[] names(Enum<?>[] constants) {
            return Arrays.stream(constants)
                    .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                    .toArray(String[]::new);
        }

        @Override
        public String[] findEnumValues(
                MapperConfig<?> config, AnnotatedClass type, Enum<?>[] constants, String[] explicit) {
            return names(constants);
        }
    }

    private static final class WholeNumber extends StdScalarDeserializer<Integer> {
        WholeNumber() {
            super(Integer.class);
        }

        @Override
        public Integer deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT
                    && parser.getNumberType() == JsonParser.NumberType.INT
                    && parser.getIntValue() >= 0) {
                return parser.getIntValue();
            }
            throw MismatchedInputException.from(parser, Integer.class, "no whole number");
        }
    }

    private static final class Regex extends StdConverter<String, Pattern> {
        @Override
        public Pattern convert(String regex) {
            return Pattern.compile(regex);
        }
    }
}
