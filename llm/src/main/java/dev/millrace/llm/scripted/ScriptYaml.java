package dev.millrace.llm.scripted;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads one YAML document into nodes that know their lines. Aliases, tags and second documents are refused. */
final class ScriptYaml {

    private static final YAMLFactory YAML = new YAMLFactory();

    private final String source;
    private final YAMLParser parser;

    private ScriptYaml(String source, YAMLParser parser) {
        this.source = source;
        this.parser = parser;
    }

    static ScriptNode parse(String source, String yaml) {
        try (YAMLParser parser = YAML.createParser(yaml)) {
            ScriptYaml reader = new ScriptYaml(source, parser);
            JsonToken first = parser.nextToken();
            if (first == null) {
                throw new InvalidScriptException(source, 1, "expected a mapping with rules, found an empty file");
            }
            ScriptNode root = reader.node(first);
            if (parser.nextToken() != null) {
                throw new InvalidScriptException(source, reader.line(), "expected one document, found a second one");
            }
            return root;
        } catch (JsonProcessingException e) {
            int line = e.getLocation() == null ? 1 : Math.max(1, e.getLocation().getLineNr());
            throw new InvalidScriptException(source, line, "not YAML: " + withoutExcerpts(e.getOriginalMessage()));
        } catch (IOException e) {
            throw new InvalidScriptException(source, "cannot be read: " + e.getMessage());
        }
    }

    private ScriptNode node(JsonToken token) throws IOException {
        if (parser.isCurrentAlias()) {
            throw new InvalidScriptException(source, line(), "aliases are not supported; write the part out");
        }
        return switch (token) {
            case START_OBJECT -> mapping();
            case START_ARRAY -> sequence();
            case VALUE_STRING -> scalar(parser.getText());
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> scalar(parser.getNumberValue());
            case VALUE_TRUE -> scalar(true);
            case VALUE_FALSE -> scalar(false);
            case VALUE_NULL -> scalar(null);
            case NOT_AVAILABLE, END_OBJECT, END_ARRAY, FIELD_NAME, VALUE_EMBEDDED_OBJECT ->
                throw new InvalidScriptException(source, line(), "expected a value, found " + token);
        };
    }

    private ScriptNode mapping() throws IOException {
        int line = line();
        Map<String, ScriptNode> entries = new LinkedHashMap<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            int keyLine = line();
            if (entries.put(key, node(parser.nextToken())) != null) {
                throw new InvalidScriptException(source, keyLine, "the key \"" + key + "\" is there twice");
            }
        }
        return new ScriptNode.Mapping(line, entries);
    }

    private ScriptNode sequence() throws IOException {
        int line = line();
        List<ScriptNode> items = new ArrayList<>();
        for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            items.add(node(token));
        }
        return new ScriptNode.Sequence(line, items);
    }

    private ScriptNode scalar(@Nullable Object value) {
        return new ScriptNode.Scalar(line(), value);
    }

    private int line() {
        return parser.currentTokenLocation().getLineNr();
    }

    /** Without the excerpts from the file, which the parser indents. */
    private static String withoutExcerpts(String message) {
        return message.lines()
                .filter(line -> !line.isBlank() && !line.startsWith(" "))
                .collect(Collectors.joining(": "));
    }
}
