package dev.millrace.llm.scripted;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.llm.scripted.ScriptRule.Condition;
import dev.millrace.llm.scripted.ScriptRule.Order;
import dev.millrace.llm.scripted.ScriptRule.Reply;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Turns YAML into a {@link Script}, or says on which line it is none. */
final class ScriptReader {

    private static final Set<String> CONDITION = keys(Condition.class);
    private static final Set<String> REPLY = keys(Reply.class);
    private static final Set<String> RULE =
            Stream.of(keys(Rule.class), CONDITION, REPLY).flatMap(Set::stream).collect(Collectors.toUnmodifiableSet());

    private final String source;
    private final ScriptYaml yaml;
    private Script.Context context = new Script.Context(null, Chunking.DEFAULT, null, false);

    ScriptReader(String source, String yaml) {
        this.source = source;
        this.yaml = ScriptYaml.parse(source, yaml);
    }

    /** What a script says as a whole. */
    private record Top(
            @Nullable String model,
            @Nullable String callLog,
            @Nullable Integer seed,
            @Nullable Latency latencyMs,
            @Nullable Chunking stream,
            @Nullable List<JsonNode> rules,
            @Nullable JsonNode fallback) {}

    /** What a rule says beside its condition and, if it is only one, its reply. */
    private record Rule(
            @Nullable String name,
            boolean literal,
            @Nullable List<Reply> steps,
            @Nullable List<Reply> sequence) {}

    private static Set<String> keys(Class<? extends Record> type) {
        return Arrays.stream(type.getRecordComponents())
                .map(RecordComponent::getName)
                .collect(Collectors.toUnmodifiableSet());
    }

    Script read() {
        Top top = yaml.bind("", yaml.mapping(""), Top.class, context);
        if (top.rules() == null) {
            throw yaml.problem("rules", "expected a list of rules, found nothing");
        }
        context = new Script.Context(
                top.latencyMs(), Objects.requireNonNullElse(top.stream(), context.chunking()), null, false);
        List<ScriptRule> rules = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (int i = 0; i < top.rules().size(); i++) {
            String path = "rules[" + i + "]";
            ScriptRule rule = rule(path, yaml.mapping(path));
            if (!names.add(rule.name())) {
                throw yaml.problem(path + ".name", "\"" + rule.name() + "\" is taken");
            }
            rules.add(rule);
        }
        Script.Head head = new Script.Head(
                Objects.requireNonNullElse(top.model(), "scripted"),
                top.callLog() == null ? null : Path.of(top.callLog()),
                Objects.requireNonNullElse(top.seed(), 0));
        return new Script(source, head, rules, fallback(top.fallback()));
    }

    private ScriptRule fallback(@Nullable JsonNode node) {
        Reply reply = node == null || node.isNull()
                ? new Reply(
                        Template.parse(
                                "This is Millrace's scripted model, and no rule of its script fits: \"{{user}}\".",
                                null),
                        null,
                        List.of(),
                        context.latency(),
                        context.chunking(),
                        null,
                        null,
                        null)
                : yaml.bind("fallback", yaml.mapping("fallback"), Reply.class, context)
                        .orElse(context.latency(), context.chunking());
        return new ScriptRule("fallback", Condition.ALWAYS, Order.ONE, List.of(reply));
    }

    private ScriptRule rule(String path, ObjectNode node) {
        for (String key : names(node)) {
            if (!RULE.contains(key)) {
                throw yaml.unknown(path, key, RULE);
            }
        }
        Condition when = yaml.bind(path, node.deepCopy().retain(CONDITION), Condition.class, context);
        Script.Context within = new Script.Context(
                context.latency(),
                context.chunking(),
                when.user(),
                node.path("literal").asBoolean());
        Rule rule =
                yaml.bind(path, node.deepCopy().<ObjectNode>without(CONDITION).without(REPLY), Rule.class, within);
        Order order = node.has("steps") ? Order.ROUNDS : node.has("sequence") ? Order.CALLS : Order.ONE;
        List<Reply> replies =
                switch (order) {
                    case ONE -> List.of(yaml.bind(path, node.deepCopy().retain(REPLY), Reply.class, within));
                    case ROUNDS -> several(path, node, "steps", rule.steps());
                    case CALLS -> several(path, node, "sequence", rule.sequence());
                };
        return new ScriptRule(
                Objects.requireNonNullElse(rule.name(), path),
                when,
                order,
                replies.stream()
                        .map(reply -> reply.orElse(context.latency(), context.chunking()))
                        .toList());
    }

    private List<Reply> several(String path, ObjectNode rule, String list, @Nullable List<Reply> replies) {
        for (String key : names(rule)) {
            if (list.equals("steps") && (key.equals("after") || key.equals("rounds"))) {
                throw yaml.problem(path + "." + key, "a rule with steps counts the rounds itself");
            }
            if (list.equals("steps") && key.equals("sequence")) {
                throw yaml.problem(path + "." + key, "a rule has steps or a sequence, not both");
            }
            if (REPLY.contains(key)) {
                throw yaml.problem(path + "." + key, "a rule with " + list + " says this in its " + list);
            }
        }
        if (replies == null || replies.isEmpty()) {
            throw yaml.problem(path + "." + list, "expected at least one reply, found none");
        }
        return replies;
    }

    private static List<String> names(ObjectNode node) {
        return node.propertyStream().map(Map.Entry::getKey).toList();
    }
}
