package dev.millrace.llm.scripted;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;

/** An argument of a tool call as the script writes it. */
sealed interface ScriptValue {

    /** The JSON value. */
    @Nullable
    Object render(Turn turn, @Nullable Matcher user) throws Template.UnresolvedException;

    /** A text with placeholders. */
    record Text(Template template) implements ScriptValue {
        private static final JsonMapper JSON = new JsonMapper();

        @Override
        public @Nullable Object render(Turn turn, @Nullable Matcher user) throws Template.UnresolvedException {
            return JSON.convertValue(template.value(turn, user), Object.class);
        }
    }

    /** A number, true, false or null. */
    record Constant(@Nullable Object value) implements ScriptValue {
        @Override
        public @Nullable Object render(Turn turn, @Nullable Matcher user) {
            return value;
        }
    }

    /** An array. */
    record Items(List<ScriptValue> items) implements ScriptValue {
        @Override
        public Object render(Turn turn, @Nullable Matcher user) throws Template.UnresolvedException {
            List<@Nullable Object> rendered = new ArrayList<>();
            for (ScriptValue item : items) {
                rendered.add(item.render(turn, user));
            }
            return rendered;
        }
    }

    /** An object. */
    record Members(Map<String, ScriptValue> members) implements ScriptValue {
        @Override
        public Map<String, @Nullable Object> render(Turn turn, @Nullable Matcher user)
                throws Template.UnresolvedException {
            Map<String, @Nullable Object> rendered = new LinkedHashMap<>();
            for (var member : members.entrySet()) {
                rendered.put(member.getKey(), member.getValue().render(turn, user));
            }
            return rendered;
        }
    }
}
