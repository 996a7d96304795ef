package dev.millrace.llm.scripted;

import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply.Usage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Turns YAML nodes into a {@link Script}, or says on which line they are none. */
final class ScriptReader {

    private static final Set<String> TOP = Set.of("model", "callLog", "latencyMs", "rules", "fallback");
    private static final Set<String> CONDITION = Set.of("user", "system", "after", "rounds", "failed", "tools");
    private static final Set<String> REPLY =
            Set.of("text", "reasoning", "calls", "latencyMs", "usage", "fail", "finishReason");
    private static final Set<String> RULE = Stream.of(Set.of("name", "steps"), CONDITION, REPLY)
            .flatMap(Set::stream)
            .collect(Collectors.toUnmodifiableSet());

    private final String source;
    private @Nullable Duration latency;

    ScriptReader(String source) {
        this.source = source;
    }

    Script read(ScriptNode root) {
        ScriptFields top = ScriptFields.of(source, "the script", root, TOP);
        top = new ScriptFields(source, "", top.mapping());
        latency = millis(top, "latencyMs");
        List<ScriptNode> nodes = top.items("rules");
        if (nodes == null) {
            throw top.problem(top.line(), "rules", "expected a list of rules, found nothing");
        }
        List<ScriptRule> rules = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (ScriptNode node : nodes) {
            ScriptRule rule = rule("rules[" + rules.size() + "]", node);
            if (!names.add(rule.name())) {
                throw new InvalidScriptException(
                        source, node.line(), "rules[" + rules.size() + "].name: \"" + rule.name() + "\" is taken");
            }
            rules.add(rule);
        }
        String model = top.text("model");
        String callLog = top.text("callLog");
        return new Script(
                source,
                model == null ? "scripted" : model,
                callLog == null ? null : Path.of(callLog),
                rules,
                fallback(top.node("fallback")));
    }

    private ScriptRule fallback(@Nullable ScriptNode node) {
        ScriptRule.Condition always = new ScriptRule.Condition(null, null, null, null, null, List.of());
        if (node == null) {
            Template text = Template.parse(
                    "This is Millrace's scripted model, and no rule of its script fits: \"{{user}}\".", null);
            return new ScriptRule(
                    "fallback",
                    always,
                    false,
                    List.of(new ScriptRule.Reply(text, null, List.of(), latency, null, null, null)));
        }
        ScriptFields fields = ScriptFields.of(source, "fallback", node, REPLY);
        return new ScriptRule("fallback", always, false, List.of(reply(fields, null)));
    }

    private ScriptRule rule(String path, ScriptNode node) {
        ScriptFields fields = ScriptFields.of(source, path, node, RULE);
        Pattern user = fields.pattern("user");
        List<String> tools = fields.texts("tools");
        ScriptRule.Condition when = new ScriptRule.Condition(
                user,
                fields.pattern("system"),
                fields.texts("after"),
                fields.wholeNumber("rounds"),
                fields.flag("failed"),
                tools == null ? List.of() : tools);
        String name = fields.text("name");
        List<ScriptNode> steps = fields.items("steps");
        return new ScriptRule(
                name == null ? path : name,
                when,
                steps != null,
                steps == null ? List.of(reply(fields, user)) : steps(fields, steps, user));
    }

    private List<ScriptRule.Reply> steps(ScriptFields rule, List<ScriptNode> nodes, @Nullable Pattern user) {
        for (String key : rule.mapping().entries().keySet()) {
            if (REPLY.contains(key)) {
                throw rule.problem(rule.lineOf(key), key, "a rule with steps says this in its steps");
            }
        }
        for (String key : List.of("after", "rounds")) {
            if (rule.has(key)) {
                throw rule.problem(rule.lineOf(key), key, "a rule with steps counts the rounds itself");
            }
        }
        if (nodes.isEmpty()) {
            throw rule.problem(rule.lineOf("steps"), "steps", "expected at least one step, found none");
        }
        List<ScriptRule.Reply> replies = new ArrayList<>();
        for (ScriptNode node : nodes) {
            String path = rule.path() + ".steps[" + replies.size() + "]";
            replies.add(reply(ScriptFields.of(source, path, node, REPLY), user));
        }
        return List.copyOf(replies);
    }

    private ScriptRule.Reply reply(ScriptFields fields, @Nullable Pattern user) {
        Template text = template(fields, "text", user);
        List<ScriptRule.Call> calls = calls(fields, user);
        ScriptRule.Fault fail = fault(fields);
        boolean says = text != null || !calls.isEmpty();
        if (fail == null && !says) {
            throw new InvalidScriptException(
                    source, fields.line(), fields.path() + ": expected text, calls or fail, found none of them");
        }
        if (fail != null && (fail.times() != null) != says) {
            throw fields.problem(
                    fields.lineOf("fail"),
                    "fail",
                    says
                            ? "without times it fails for ever, so the text or calls beside it are never reached"
                            : "with times it ends, so there must be text or calls beside it");
        }
        Duration own = millis(fields, "latencyMs");
        return new ScriptRule.Reply(
                text,
                template(fields, "reasoning", user),
                calls,
                own == null ? latency : own,
                usage(fields),
                fail,
                fields.choice("finishReason", FinishReason.class));
    }

    private List<ScriptRule.Call> calls(ScriptFields reply, @Nullable Pattern user) {
        List<ScriptNode> nodes = Objects.requireNonNullElse(reply.items("calls"), List.of());
        List<ScriptRule.Call> calls = new ArrayList<>();
        for (ScriptNode node : nodes) {
            String path = reply.path() + ".calls[" + calls.size() + "]";
            ScriptFields fields =
                    ScriptFields.of(source, path, node, Set.of("tool", "arguments", "malformedArguments"));
            ScriptNode arguments = fields.node("arguments");
            String malformed = fields.text("malformedArguments");
            if (arguments != null && malformed != null) {
                throw fields.problem(
                        fields.lineOf("malformedArguments"), "malformedArguments", "there are arguments already");
            }
            Map<String, ScriptValue> members = arguments == null
                    ? Map.of()
                    : members(
                            path + ".arguments",
                            ScriptFields.of(source, path + ".arguments", arguments)
                                    .mapping(),
                            user);
            calls.add(new ScriptRule.Call(fields.requiredText("tool"), new ScriptValue.Members(members), malformed));
        }
        return List.copyOf(calls);
    }

    private Map<String, ScriptValue> members(String path, ScriptNode.Mapping mapping, @Nullable Pattern user) {
        Map<String, ScriptValue> members = new LinkedHashMap<>();
        mapping.entries().forEach((key, node) -> members.put(key, value(path + "." + key, node, user)));
        return members;
    }

    private ScriptValue value(String path, ScriptNode node, @Nullable Pattern user) {
        return switch (node) {
            case ScriptNode.Mapping mapping -> new ScriptValue.Members(members(path, mapping, user));
            case ScriptNode.Sequence sequence ->
                new ScriptValue.Items(sequence.items().stream()
                        .map(item -> value(path + "[]", item, user))
                        .toList());
            case ScriptNode.Scalar(int line, String text) -> new ScriptValue.Text(template(path, line, text, user));
            case ScriptNode.Scalar scalar -> new ScriptValue.Constant(scalar.value());
        };
    }

    private ScriptRule.@Nullable Fault fault(ScriptFields reply) {
        ScriptNode node = reply.node("fail");
        if (node == null) {
            return null;
        }
        String path = reply.path() + ".fail";
        ScriptFields fields = ScriptFields.of(
                source, path, node, Set.of("code", "message", "retryable", "retryAfterMs", "times", "per"));
        fields.requiredText("code");
        ModelErrorCode code = Objects.requireNonNull(fields.choice("code", ModelErrorCode.class));
        String message = fields.text("message");
        Boolean retryable = fields.flag("retryable");
        ScriptRule.Scope per = fields.choice("per", ScriptRule.Scope.class);
        return new ScriptRule.Fault(
                path,
                code,
                message == null ? "the script says so" : message,
                retryable == null ? code.retryable() : retryable,
                millis(fields, "retryAfterMs"),
                fields.wholeNumber("times"),
                per == null ? ScriptRule.Scope.CALL : per);
    }

    private @Nullable Usage usage(ScriptFields reply) {
        ScriptNode node = reply.node("usage");
        if (node == null) {
            return null;
        }
        ScriptFields fields =
                ScriptFields.of(source, reply.path() + ".usage", node, Set.of("inputTokens", "outputTokens"));
        Long input = fields.wholeNumber("inputTokens");
        Long output = fields.wholeNumber("outputTokens");
        if (input == null || output == null) {
            throw new InvalidScriptException(
                    source, fields.line(), fields.path() + ": expected inputTokens and outputTokens");
        }
        return new Usage(input, output);
    }

    private static @Nullable Duration millis(ScriptFields fields, String key) {
        Long millis = fields.wholeNumber(key);
        return millis == null ? null : Duration.ofMillis(millis);
    }

    private @Nullable Template template(ScriptFields fields, String key, @Nullable Pattern user) {
        String text = fields.text(key);
        return text == null ? null : template(fields.path() + "." + key, fields.lineOf(key), text, user);
    }

    private Template template(String path, int line, String text, @Nullable Pattern user) {
        try {
            return Template.parse(text, user);
        } catch (IllegalArgumentException e) {
            throw new InvalidScriptException(source, line, path + ": " + e.getMessage());
        }
    }
}
