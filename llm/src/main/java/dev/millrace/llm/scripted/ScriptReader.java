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

    private static final Set<String> TOP =
            Set.of("model", "callLog", "seed", "latencyMs", "stream", "rules", "fallback");
    private static final Set<String> CONDITION =
            Set.of("user", "system", "after", "rounds", "failed", "tools", "request");
    private static final Set<String> REPLY =
            Set.of("text", "reasoning", "calls", "latencyMs", "stream", "usage", "fail", "finishReason");
    private static final Set<String> RULE = Stream.of(Set.of("name", "steps", "sequence", "literal"), CONDITION, REPLY)
            .flatMap(Set::stream)
            .collect(Collectors.toUnmodifiableSet());

    private final String source;
    private @Nullable Latency latency;
    private Chunking chunking = Chunking.DEFAULT;
    private boolean literal;

    ScriptReader(String source) {
        this.source = source;
    }

    Script read(ScriptNode root) {
        ScriptFields top = ScriptFields.of(source, "the script", root, TOP);
        top = new ScriptFields(source, "", top.mapping());
        latency = latency(top);
        chunking = chunking(top);
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
        Long seed = top.wholeNumber("seed");
        Script.Head head = new Script.Head(
                model == null ? "scripted" : model, callLog == null ? null : Path.of(callLog), seed == null ? 0 : seed);
        return new Script(source, head, rules, fallback(top.node("fallback")));
    }

    private ScriptRule fallback(@Nullable ScriptNode node) {
        literal = false;
        if (node == null) {
            Template text = Template.parse(
                    "This is Millrace's scripted model, and no rule of its script fits: \"{{user}}\".", null);
            return new ScriptRule(
                    "fallback",
                    ScriptRule.Condition.ALWAYS,
                    ScriptRule.Order.ONE,
                    List.of(new ScriptRule.Reply(text, null, List.of(), latency, chunking, null, null, null)));
        }
        ScriptFields fields = ScriptFields.of(source, "fallback", node, REPLY);
        return new ScriptRule(
                "fallback", ScriptRule.Condition.ALWAYS, ScriptRule.Order.ONE, List.of(reply(fields, null)));
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
                failed(fields),
                tools == null ? List.of() : tools,
                fields.text("request"));
        literal = Boolean.TRUE.equals(fields.flag("literal"));
        String name = fields.text("name");
        ScriptRule.Order order = fields.has("steps")
                ? ScriptRule.Order.ROUNDS
                : fields.has("sequence") ? ScriptRule.Order.CALLS : ScriptRule.Order.ONE;
        return new ScriptRule(
                name == null ? path : name,
                when,
                order,
                switch (order) {
                    case ONE -> List.of(reply(fields, user));
                    case ROUNDS -> steps(fields, user);
                    case CALLS -> replies(fields, "sequence", user);
                });
    }

    private static ScriptRule.@Nullable Failed failed(ScriptFields rule) {
        if (rule.node("failed") instanceof ScriptNode.Sequence) {
            return new ScriptRule.Failed(null, Objects.requireNonNullElse(rule.texts("failed"), List.of()));
        }
        Boolean latest = rule.flag("failed");
        return latest == null ? null : new ScriptRule.Failed(latest, List.of());
    }

    private List<ScriptRule.Reply> steps(ScriptFields rule, @Nullable Pattern user) {
        for (String key : List.of("after", "rounds")) {
            if (rule.has(key)) {
                throw rule.problem(rule.lineOf(key), key, "a rule with steps counts the rounds itself");
            }
        }
        if (rule.has("sequence")) {
            throw rule.problem(rule.lineOf("sequence"), "sequence", "a rule has steps or a sequence, not both");
        }
        return replies(rule, "steps", user);
    }

    private List<ScriptRule.Reply> replies(ScriptFields rule, String list, @Nullable Pattern user) {
        for (String key : rule.mapping().entries().keySet()) {
            if (REPLY.contains(key)) {
                throw rule.problem(rule.lineOf(key), key, "a rule with " + list + " says this in its " + list);
            }
        }
        List<ScriptNode> nodes = Objects.requireNonNullElse(rule.items(list), List.of());
        if (nodes.isEmpty()) {
            throw rule.problem(rule.lineOf(list), list, "expected at least one reply, found none");
        }
        List<ScriptRule.Reply> replies = new ArrayList<>();
        for (ScriptNode node : nodes) {
            String path = rule.path() + "." + list + "[" + replies.size() + "]";
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
        if (fail != null && fail.afterChars() != null && text == null) {
            throw fields.problem(
                    fields.lineOf("fail"),
                    "fail",
                    "with afterChars it breaks off a text, so there must be one beside it");
        }
        if (fail != null && (fail.times() != null || fail.afterChars() != null) != says) {
            throw fields.problem(
                    fields.lineOf("fail"),
                    "fail",
                    says
                            ? "without times it fails for ever, so the text or calls beside it are never reached"
                            : "with times it ends, so there must be text or calls beside it");
        }
        Latency own = latency(fields);
        return new ScriptRule.Reply(
                text,
                template(fields, "reasoning", user),
                calls,
                own == null ? latency : own,
                chunking(fields),
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
                source,
                path,
                node,
                Set.of("code", "message", "retryable", "retryAfterMs", "times", "per", "afterChars", "hang"));
        boolean hang = Boolean.TRUE.equals(fields.flag("hang"));
        if (!hang) {
            fields.requiredText("code");
        }
        ModelErrorCode code =
                Objects.requireNonNullElse(fields.choice("code", ModelErrorCode.class), ModelErrorCode.TIMEOUT);
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
                per == null ? ScriptRule.Scope.CALL : per,
                fields.wholeNumber("afterChars"),
                hang);
    }

    private @Nullable Usage usage(ScriptFields reply) {
        ScriptNode node = reply.node("usage");
        if (node == null) {
            return null;
        }
        ScriptFields fields = ScriptFields.of(
                source,
                reply.path() + ".usage",
                node,
                Set.of("inputTokens", "outputTokens", "cachedInputTokens", "reasoningTokens"));
        Long input = fields.wholeNumber("inputTokens");
        Long output = fields.wholeNumber("outputTokens");
        if (input == null || output == null) {
            throw new InvalidScriptException(
                    source, fields.line(), fields.path() + ": expected inputTokens and outputTokens");
        }
        Long cached = fields.wholeNumber("cachedInputTokens");
        Long reasoning = fields.wholeNumber("reasoningTokens");
        return new Usage(input, output, cached == null ? 0 : cached, 0, reasoning == null ? 0 : reasoning, null);
    }

    /** A number, or a distribution; null if there is none. */
    private @Nullable Latency latency(ScriptFields parent) {
        if (!(parent.node("latencyMs") instanceof ScriptNode.Mapping node)) {
            Duration fixed = millis(parent, "latencyMs");
            return fixed == null ? null : new Latency.Fixed(fixed);
        }
        String path = parent.path().isEmpty() ? "latencyMs" : parent.path() + ".latencyMs";
        ScriptFields fields = ScriptFields.of(source, path, node, Set.of("min", "max", "median", "p99"));
        Duration min = millis(fields, "min");
        Duration max = millis(fields, "max");
        Duration median = millis(fields, "median");
        Duration p99 = millis(fields, "p99");
        if (min != null && max != null && median == null && p99 == null && max.compareTo(min) >= 0) {
            return new Latency.Uniform(min, max);
        }
        if (median != null
                && p99 != null
                && min == null
                && max == null
                && median.isPositive()
                && p99.compareTo(median) >= 0) {
            return new Latency.LogNormal(median, p99);
        }
        throw new InvalidScriptException(
                source,
                node.line(),
                path + ": expected a number, or min and a max that is no less, or a median above 0 and a p99 that is no"
                        + " less");
    }

    /** As the script says as a whole, except for what is said here. */
    private Chunking chunking(ScriptFields parent) {
        ScriptNode node = parent.node("stream");
        if (node == null) {
            return chunking;
        }
        String path = parent.path().isEmpty() ? "stream" : parent.path() + ".stream";
        ScriptFields fields = ScriptFields.of(source, path, node, Set.of("chunkChars", "chunkMs"));
        Long chars = fields.wholeNumber("chunkChars");
        Duration pause = millis(fields, "chunkMs");
        if (chars != null && chars == 0) {
            throw fields.problem(fields.lineOf("chunkChars"), "chunkChars", "expected 1 or more, found 0");
        }
        return new Chunking(
                chars == null ? chunking.chars() : Math.toIntExact(chars), pause == null ? chunking.pause() : pause);
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
        if (literal) {
            return Template.literal(text);
        }
        try {
            return Template.parse(text, user);
        } catch (IllegalArgumentException e) {
            throw new InvalidScriptException(source, line, path + ": " + e.getMessage());
        }
    }
}
