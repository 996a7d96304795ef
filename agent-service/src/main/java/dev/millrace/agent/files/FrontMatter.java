package dev.millrace.agent.files;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A text with a YAML head between two lines of three dashes. Aliases, anchors' copies, second documents and keys that
 * stand twice are refused, so that a small file cannot grow and means one thing.
 *
 * @param fields the head as JSON values, in the order in which they were written
 * @param lines where the keys stand: path such as {@code limits.tokens}, line of the file from 1
 * @param body what follows the head, without blank lines around it
 */
record FrontMatter(JsonObject fields, Map<String, Integer> lines, String body) {

    private static final String FENCE = "---";
    private static final int MAX_DEPTH = 20;
    private static final YAMLFactory YAML = new YAMLFactory();

    static FrontMatter parse(String text) throws InvalidAgentException {
        // an editor on Windows may put a mark at the beginning and two characters at the end of each line
        List<String> lines =
                (text.startsWith("\uFEFF") ? text.substring(1) : text).lines().toList();
        if (lines.isEmpty() || !lines.getFirst().stripTrailing().equals(FENCE)) {
            throw new InvalidAgentException("line 1: expected ---, the beginning of the front matter");
        }
        int end = 1;
        while (end < lines.size() && !lines.get(end).stripTrailing().equals(FENCE)) {
            end++;
        }
        if (end == lines.size()) {
            throw new InvalidAgentException("expected a second ---, the end of the front matter, found none");
        }
        String head = String.join("\n", lines.subList(1, end));
        String body = String.join("\n", lines.subList(end + 1, lines.size())).strip();
        return new Reader(1).read(head, body);
    }

    /** A file that is nothing but YAML. */
    static FrontMatter ofYaml(String text) throws InvalidAgentException {
        return new Reader(0).read(text.startsWith("\uFEFF") ? text.substring(1) : text, "");
    }

    /** One use: reads a head. */
    private static final class Reader {
        /** Lines of the file before it. */
        private final int above;

        private final Map<String, Integer> lines = new HashMap<>();

        Reader(int above) {
            this.above = above;
        }

        FrontMatter read(String head, String body) throws InvalidAgentException {
            try (YAMLParser parser = YAML.createParser(head)) {
                JsonToken first = parser.nextToken();
                if (first != JsonToken.START_OBJECT) {
                    throw new InvalidAgentException("line " + (1 + above) + ": expected a mapping of keys to values");
                }
                JsonObject fields = mapping(parser, "", 0);
                if (parser.nextToken() != null) {
                    throw new InvalidAgentException(at(parser) + "expected one document, found a second one");
                }
                return new FrontMatter(fields, lines, body);
            } catch (JsonProcessingException e) {
                int line = e.getLocation() == null
                        ? 1
                        : Math.max(1, e.getLocation().getLineNr());
                throw new InvalidAgentException("line " + (line + above) + ": not YAML: " + withoutExcerpts(e));
            } catch (IOException e) {
                throw new InvalidAgentException("cannot be read: " + e.getMessage());
            }
        }

        private @Nullable Object value(YAMLParser parser, JsonToken token, String path, int depth)
                throws IOException, InvalidAgentException {
            if (parser.isCurrentAlias()) {
                throw new InvalidAgentException(at(parser) + "aliases are not supported; write the part out");
            }
            if (depth > MAX_DEPTH) {
                throw new InvalidAgentException(at(parser) + "expected at most " + MAX_DEPTH + " levels, found more");
            }
            return switch (token) {
                case START_OBJECT -> mapping(parser, path, depth + 1);
                case START_ARRAY -> sequence(parser, path, depth + 1);
                case VALUE_STRING -> parser.getText();
                case VALUE_NUMBER_INT -> number(parser, parser.getNumberValue());
                case VALUE_NUMBER_FLOAT -> number(parser, parser.getDecimalValue());
                case VALUE_TRUE -> true;
                case VALUE_FALSE -> false;
                case VALUE_NULL -> null;
                case NOT_AVAILABLE, END_OBJECT, END_ARRAY, FIELD_NAME, VALUE_EMBEDDED_OBJECT ->
                    throw new InvalidAgentException(at(parser) + "expected a value, found " + token);
            };
        }

        private Object number(YAMLParser parser, Number value) throws InvalidAgentException {
            if (EventSchemas.unfit(Map.of("number", value), 1).isPresent()) {
                throw new InvalidAgentException(at(parser)
                        + "expected a number in the range of a 64-bit floating point number, found one beyond it");
            }
            return value;
        }

        private JsonObject mapping(YAMLParser parser, String path, int depth)
                throws IOException, InvalidAgentException {
            JsonObject.Builder entries = JsonObject.builder();
            Set<String> keys = new HashSet<>();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String key = parser.currentName();
                String inner = path.isEmpty() ? key : path + '.' + key;
                String where = at(parser);
                lines.put(inner, line(parser));
                if (!keys.add(key)) {
                    throw new InvalidAgentException(where + "the key \"" + inner + "\" is there twice");
                }
                entries.put(key, value(parser, parser.nextToken(), inner, depth));
            }
            return entries.build();
        }

        private List<@Nullable Object> sequence(YAMLParser parser, String path, int depth)
                throws IOException, InvalidAgentException {
            List<@Nullable Object> items = new ArrayList<>();
            for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
                items.add(value(parser, token, path, depth));
            }
            return items;
        }

        private int line(YAMLParser parser) {
            return parser.currentTokenLocation().getLineNr() + above;
        }

        private String at(YAMLParser parser) {
            return "line " + line(parser) + ": ";
        }

        /** Without the excerpts from the file, which the parser indents. */
        private static String withoutExcerpts(JsonProcessingException e) {
            return e.getOriginalMessage()
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith(" "))
                    .collect(Collectors.joining(": "));
        }
    }
}
