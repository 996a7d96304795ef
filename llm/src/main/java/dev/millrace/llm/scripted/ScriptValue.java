package dev.millrace.llm.scripted;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;

/**
 * An argument of a tool call as the script writes it.
 *
 * @param content a {@link Template}, a map or list of further values, or a number, true, false or null
 */
@JsonDeserialize(using = ScriptValue.Reader.class)
record ScriptValue(@Nullable Object content) {

    private static final JsonMapper JSON = new JsonMapper();

    static final class Reader extends JsonDeserializer<ScriptValue> {
        @Override
        public ScriptValue deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            var types = context.getTypeFactory();
            return new ScriptValue(context.readValue(
                    parser,
                    switch (parser.currentToken()) {
                        case START_OBJECT ->
                            types.constructMapType(LinkedHashMap.class, String.class, ScriptValue.class);
                        case START_ARRAY -> types.constructCollectionType(ArrayList.class, ScriptValue.class);
                        case VALUE_STRING -> types.constructType(Template.class);
                        default -> types.constructType(Object.class);
                    }));
        }

        @Override
        public ScriptValue getNullValue(DeserializationContext context) {
            return new ScriptValue(null);
        }
    }

    /** The JSON value. */
    @Nullable
    Object render(Turn turn, @Nullable Matcher user) throws Template.UnresolvedException {
        return switch (content) {
            case Template template -> JSON.convertValue(template.value(turn, user), Object.class);
            case Map<?, ?> members -> render(members, turn, user);
            case List<?> items -> {
                List<@Nullable Object> rendered = new ArrayList<>();
                for (Object item : items) {
                    rendered.add(((ScriptValue) item).render(turn, user));
                }
                yield rendered;
            }
            case null, default -> content;
        };
    }

    /** A JSON object of values. */
    static Map<String, @Nullable Object> render(Map<?, ?> members, Turn turn, @Nullable Matcher user)
            throws Template.UnresolvedException {
        Map<String, @Nullable Object> rendered = new LinkedHashMap<>();
        for (Map.Entry<?, ?> member : members.entrySet()) {
            rendered.put((String) member.getKey(), ((ScriptValue) member.getValue()).render(turn, user));
        }
        return rendered;
    }
}
