package dev.millrace.testkit;

import dev.millrace.llm.scripted.Script;
import dev.millrace.llm.scripted.ScriptedModel;
import dev.millrace.schemas.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The model that tasks ask: it says what the test has written down, in the language of docs/scripted-model.md. The
 * first rule that fits answers, so what is said first stands above what is said later. Where none fits, the model
 * says just that.
 */
public final class TestModel {

    private final List<Map<String, Object>> rules = new ArrayList<>();
    private @Nullable ScriptedModel model;

    TestModel() {}

    /**
     * What the model does when the newest message of the person fits.
     *
     * @param regex is looked for in the text; its groups are {@code {{user.1}}} or, with a name, {@code {{user.name}}}
     */
    public Steps whenUser(String regex) {
        Map<String, Object> rule = new LinkedHashMap<>();
        rule.put("user", regex);
        List<Object> steps = new ArrayList<>();
        rule.put("steps", steps);
        rules.add(rule);
        model = null;
        return new Steps(steps);
    }

    /** All rules as a script, in place of those so far. */
    public void script(String yaml) {
        model = new ScriptedModel(Script.parse("test", yaml));
    }

    ScriptedModel model() {
        ScriptedModel known = model;
        if (known == null) {
            known = new ScriptedModel(Script.parse("test", Json.writeText(Map.of("rules", rules))));
            model = known;
        }
        return known;
    }

    /** What the model does, call after call of one task. */
    public final class Steps {

        private final List<Object> steps;

        private Steps(List<Object> steps) {
            this.steps = steps;
        }

        /** It calls a tool. */
        public Steps calls(String toolName, Map<String, ?> arguments) {
            return step(Map.of("calls", List.of(Map.of("tool", toolName, "arguments", arguments))));
        }

        /** It calls a tool without arguments. */
        public Steps calls(String toolName) {
            return calls(toolName, Map.of());
        }

        /** It says something, which ends the task; {@code {{result.TOOL}}} is what a tool has answered. */
        public Steps says(String text) {
            return step(Map.of("text", text));
        }

        /** It asks the person something, and the task waits. */
        public Steps asks(String question) {
            return calls("ask_user", Map.of("question", question));
        }

        /** It fails for good, with a code of docs/scripted-model.md such as {@code refused}. */
        public Steps fails(String code) {
            return step(Map.of("fail", Map.of("code", code, "message", "as the test says")));
        }

        private Steps step(Map<String, ?> step) {
            steps.add(step);
            model = null;
            return this;
        }
    }
}
