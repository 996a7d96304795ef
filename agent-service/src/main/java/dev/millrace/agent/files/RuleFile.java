package dev.millrace.agent.files;

import dev.millrace.agent.Agents;
import dev.millrace.agent.expressions.Expression;
import dev.millrace.agent.rules.Arguments;
import dev.millrace.agent.rules.Rule;
import dev.millrace.agent.rules.RuleSet;
import dev.millrace.agent.rules.TypePattern;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.InputTemplate;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A file of rules: YAML with the rules by id under {@code rules}. {@code docs/rules.md} says what each key means. */
public final class RuleFile {

    private static final String BUILT_IN = "/rules/default.yaml";
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,63}");
    private static final Pattern TOOL = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    private static final String TOOL_NAME = "1 to 64 letters, digits, _ and -";
    private static final Set<String> HANDLERS = Set.of("log", "query", "agent", "call");
    private static final Set<String> QUERIES =
            Set.of("user_query", "NEW_MESSAGE", KnownEventType.MESSAGE_RECEIVED.name());
    private static final int VERSION_DIGITS = 12;
    private static final int MAX_PRIORITY = 1_000_000;

    private RuleFile() {}

    /** Read when somebody asks first, and once. */
    private static final class BuiltIn {
        private static final RuleSet RULES = readBuiltIn();
    }

    /** The rules that come with Millrace. */
    public static RuleSet builtIn() {
        return BuiltIn.RULES;
    }

    private static RuleSet readBuiltIn() {
        try (InputStream in = RuleFile.class.getResourceAsStream(BUILT_IN)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks " + BUILT_IN);
            }
            return new RuleSet(read(new String(in.readAllBytes(), StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InvalidAgentException e) {
            throw new IllegalStateException(BUILT_IN + ": " + e.getMessage(), e);
        }
    }

    /**
     * The rules of a file, in its order.
     *
     * @throws InvalidAgentException that says where, what was expected and what was found
     */
    public static List<Rule> read(String text) throws InvalidAgentException {
        FolderFollower.requireShort(text);
        FrontMatter yaml = FrontMatter.ofYaml(text);
        DefinitionFields file = new DefinitionFields(yaml.fields(), yaml.lines());
        file.allowOnly("rules");
        DefinitionFields all = file.object("rules");
        List<Rule> rules = new ArrayList<>();
        for (String id : all.keys()) {
            rules.add(rule(id, all));
        }
        return rules;
    }

    /**
     * A rule that was defined by itself.
     *
     * @param fields what would stand under its id in a file
     * @throws InvalidAgentException that says where, what was expected and what was found
     */
    static Rule read(String id, JsonObject fields) throws InvalidAgentException {
        return rule(
                id, new DefinitionFields(JsonObject.builder().put(id, fields).build(), Map.of()));
    }

    private static Rule rule(String id, DefinitionFields all) throws InvalidAgentException {
        if (!ID.matcher(id).matches()) {
            throw all.complaint(id, "expected an id of 1 to 64 letters, digits, _ and -");
        }
        DefinitionFields fields = all.object(id);
        fields.allowOnly("on", "priority", "enabled", "filter", "when", "debounce", "log", "query", "agent", "call");
        Rule.Handler handler = handler(id, all, fields);
        List<TypePattern> on = types(id, all, fields);
        for (TypePattern pattern : on) {
            boolean open = pattern.width() != TypePattern.Width.EXACT || EventType.isOpen(pattern.text());
            boolean fits = handler instanceof Rule.Query ? QUERIES.contains(pattern.text()) : open;
            if (!fits) {
                throw fields.complaint(
                        "on",
                        "expected types outside the catalogue, or user_query with the handler query, found "
                                + pattern.text());
            }
        }
        String version =
                Ids.hash(Json.writeText(new TreeMap<>(fields.values()))).substring(0, VERSION_DIGITS);
        boolean enabled = fields.raw("enabled") == null || fields.flag("enabled");
        return new Rule(
                id, new Rule.Source(version, fields.values()), on, priority(fields), enabled, terms(fields), handler);
    }

    private static List<TypePattern> types(String id, DefinitionFields all, DefinitionFields fields)
            throws InvalidAgentException {
        List<String> names = fields.texts("on");
        if (names == null || names.isEmpty()) {
            throw all.complaint(id, "expected types of events under on, found none");
        }
        List<TypePattern> patterns = new ArrayList<>();
        for (String name : names) {
            try {
                patterns.add(new TypePattern(name));
            } catch (IllegalArgumentException e) {
                throw fields.complaint("on", e.getMessage());
            }
        }
        return patterns;
    }

    private static int priority(DefinitionFields fields) throws InvalidAgentException {
        Object value = fields.raw("priority");
        if (value == null) {
            return 0;
        }
        if (value instanceof Integer number && Math.abs((long) number) <= MAX_PRIORITY) {
            return number;
        }
        throw fields.wrong("priority", "a whole number, -" + MAX_PRIORITY + " to " + MAX_PRIORITY);
    }

    private static Rule.Terms terms(DefinitionFields fields) throws InvalidAgentException {
        return new Rule.Terms(filter(fields), when(fields), debounce(fields));
    }

    private static @Nullable Expression when(DefinitionFields fields) throws InvalidAgentException {
        String text = fields.text("when");
        if (text == null) {
            return null;
        }
        try {
            return Expression.compile(Rule.NAMES, text);
        } catch (IllegalArgumentException e) {
            throw fields.complaint("when", e.getMessage());
        }
    }

    /** A time, or an object with one and a key. */
    private static Rule.@Nullable Debounce debounce(DefinitionFields fields) throws InvalidAgentException {
        Object value = fields.raw("debounce");
        if (value == null) {
            return null;
        }
        if (!(value instanceof Map<?, ?>)) {
            return new Rule.Debounce(quietMs("debounce", fields), null);
        }
        DefinitionFields debounce = fields.object("debounce");
        debounce.allowOnly("quiet", "key");
        return new Rule.Debounce(quietMs("quiet", debounce), template(debounce, "key"));
    }

    private static long quietMs(String key, DefinitionFields fields) throws InvalidAgentException {
        Long quietMs = fields.durationMs(key);
        if (quietMs == null || quietMs > Rule.Debounce.MAX_MS) {
            throw fields.wrong(key, "a time of at most 1h, such as 2s");
        }
        return quietMs;
    }

    private static List<Rule.Wanted> filter(DefinitionFields fields) throws InvalidAgentException {
        DefinitionFields wanted = fields.object("filter");
        List<Rule.Wanted> filter = new ArrayList<>();
        for (Map.Entry<String, @Nullable Object> entry : wanted.values().entrySet()) {
            Object value = entry.getValue();
            if (!(value instanceof String || value instanceof Number || value instanceof Boolean)) {
                throw wanted.wrong(entry.getKey(), "a text, a number, true or false");
            }
            filter.add(Rule.Wanted.at(entry.getKey(), value.toString()));
        }
        return filter;
    }

    private static Rule.Handler handler(String id, DefinitionFields all, DefinitionFields fields)
            throws InvalidAgentException {
        List<String> named = fields.keys().stream().filter(HANDLERS::contains).toList();
        if (named.size() != 1) {
            throw all.complaint(id, "expected exactly one of agent, call, log and query, found " + named.size());
        }
        DefinitionFields handler = fields.object(named.getFirst());
        return switch (named.getFirst()) {
            case "agent" -> agent(handler);
            case "call" -> call(handler);
            case "query" -> {
                handler.allowNone();
                yield new Rule.Query();
            }
            default -> {
                handler.allowNone();
                yield new Rule.Log();
            }
        };
    }

    private static Rule.Handler agent(DefinitionFields fields) throws InvalidAgentException {
        fields.allowOnly("name", "prompt", "systemPrompt", "includeToolCall", "toolName", "retries");
        String name = fields.text("name");
        String tool = fields.text("toolName");
        if (tool != null && !TOOL.matcher(tool).matches()) {
            throw fields.wrong("toolName", TOOL_NAME);
        }
        return new Rule.AgentHandler(
                name == null ? Agents.DEFAULT : name,
                template(fields, "prompt"),
                template(fields, "systemPrompt"),
                fields.raw("includeToolCall") == null || fields.flag("includeToolCall"),
                tool == null ? Rule.AgentHandler.EVENT_TOOL : tool,
                retries(fields));
    }

    private static @Nullable InputTemplate template(DefinitionFields fields, String key) throws InvalidAgentException {
        String text = fields.text(key);
        return text == null ? null : new InputTemplate(text);
    }

    private static Rule.Handler call(DefinitionFields fields) throws InvalidAgentException {
        fields.allowOnly("tool", "arguments", "agent");
        String tool = fields.text("tool");
        if (tool == null || !TOOL.matcher(tool).matches()) {
            throw fields.wrong("tool", TOOL_NAME);
        }
        JsonObject arguments = fields.object("arguments").values();
        try {
            // as they would travel
            Payload.OpeningCall unused = new Payload.OpeningCall(tool, arguments);
        } catch (IllegalArgumentException e) {
            throw fields.complaint("arguments", e.getMessage());
        }
        String agent = fields.text("agent");
        return new Rule.CallHandler(tool, Arguments.of(arguments), agent == null ? Agents.DEFAULT : agent);
    }

    private static int retries(DefinitionFields fields) throws InvalidAgentException {
        Object value = fields.raw("retries");
        if (value == null) {
            return Rule.AgentHandler.MAX_RETRIES;
        }
        if (value instanceof Integer number && number >= 0 && number <= Rule.AgentHandler.MAX_RETRIES) {
            return number;
        }
        throw fields.wrong("retries", "a whole number, 0 to " + Rule.AgentHandler.MAX_RETRIES);
    }
}
