package dev.millrace.agent.files;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.AgentLimits;
import dev.millrace.agent.KnowledgeUse;
import dev.millrace.agent.PromptTemplate;
import dev.millrace.agent.ToolSelection;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonShape;
import dev.millrace.schemas.MalformedEventException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A definition of an agent in both of its forms: the file that people write, and the JSON object that travels. Equal
 * fields and an equal prompt give an equal version, whatever comments and spaces stand between.
 *
 * @param definition what it says
 * @param json the same as JSON values, with its {@code version}
 */
public record AgentFile(AgentDefinition definition, JsonObject json) {

    /** The largest file, in characters. */
    public static final int MAX_CHARS = 200_000;

    private static final int VERSION_BYTES = 6;
    private static final BigDecimal MAX_TEMPERATURE = new BigDecimal(2);
    private static final BigDecimal SMALLEST_COST = new BigDecimal("0.000001");
    private static final BigDecimal LARGEST_COST = new BigDecimal(1_000_000);
    private static final int MAX_COLLECTION = 200;
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9_-]{0,63}");

    private static final String[] KEYS = {
        "name",
        "description",
        "tools",
        "model",
        "fallback",
        "temperature",
        "output",
        "limits",
        "approval",
        "sequential",
        "subAgents",
        "knowledge",
        "allowedAgents",
        "expose"
    };

    /** Other people's protocols by which an agent can be had. */
    private static final List<String> DOORS = List.of("a2a", "mcp");

    /**
     * Reads a file.
     *
     * @param folder the name of the folder that it is in, which is the agent's name
     * @throws InvalidAgentException if it is no definition; the message says where and why
     */
    public static AgentFile ofText(String folder, String text) throws InvalidAgentException {
        if (text.length() > MAX_CHARS) {
            throw new InvalidAgentException("expected at most " + MAX_CHARS + " characters, found " + text.length());
        }
        FrontMatter matter = FrontMatter.parse(text);
        DefinitionFields fields = new DefinitionFields(matter.fields(), matter.lines());
        fields.allowOnly(KEYS);
        String name = fields.text("name");
        if (name != null && !name.equals(folder)) {
            throw fields.wrong("name", "the name of the folder, \"" + folder + "\"");
        }
        JsonObject json = JsonObject.builder()
                .putAll(matter.fields())
                .put("name", folder)
                .put("prompt", matter.body())
                .build();
        return of(json, matter.lines());
    }

    /**
     * Reads what {@link #toJson} wrote.
     *
     * @throws InvalidAgentException if it is no definition
     */
    public static AgentFile ofJson(byte[] value) throws InvalidAgentException {
        try {
            return of(Json.readObject(value), Map.of());
        } catch (MalformedEventException e) {
            throw new InvalidAgentException(String.valueOf(e.getMessage()));
        }
    }

    /** This definition as the value of a record. */
    public byte[] toJson() {
        return Json.write(json);
    }

    private static AgentFile of(JsonObject json, Map<String, Integer> lines) throws InvalidAgentException {
        DefinitionFields fields = new DefinitionFields(json, lines);
        String name = fields.text("name");
        if (name == null || !NAME.matcher(name).matches()) {
            throw fields.wrong("name", "1 to 64 small letters, digits, '_' or '-', a letter or digit first");
        }
        String description = fields.text("description");
        if (description == null) {
            throw fields.wrong("description", "a text");
        }
        // what travels says its version, so that it keeps its name whoever reads it
        String version = Objects.requireNonNullElseGet(fields.text("version"), () -> hash(json));
        BigDecimal temperature = fields.number("temperature", BigDecimal.ZERO, MAX_TEMPERATURE);
        AgentDefinition definition = new AgentDefinition(
                name,
                version,
                description,
                prompt(fields),
                tools(fields),
                new AgentDefinition.ModelChoice(
                        fields.text("model"),
                        temperature == null ? null : temperature.doubleValue(),
                        fallback(fields),
                        output(fields)),
                limits(fields.object("limits")),
                ApprovalFields.read(fields),
                new AgentDefinition.Steps(
                        fields.flag("sequential"),
                        agents(fields, "subAgents", List.of()),
                        agents(fields, "allowedAgents", List.of("*"))),
                knowledge(fields.object("knowledge")),
                expose(fields));
        return new AgentFile(
                definition,
                JsonObject.builder().putAll(json).put("version", version).build());
    }

    private static KnowledgeUse knowledge(DefinitionFields fields) throws InvalidAgentException {
        fields.allowOnly("mode", "collection", "limit", "entities");
        Integer limit = fields.small("limit");
        if (limit != null && limit > KnowledgeUse.MAX_LIMIT) {
            throw fields.wrong("limit", "at most " + KnowledgeUse.MAX_LIMIT);
        }
        String collection = fields.text("collection");
        if (collection != null && collection.length() > MAX_COLLECTION) {
            throw fields.wrong("collection", "at most " + MAX_COLLECTION + " characters");
        }
        KnowledgeUse.Mode mode = one(fields, "mode", KnowledgeUse.Mode.values(), KnowledgeUse.Mode::wireName);
        return new KnowledgeUse(
                mode == null ? KnowledgeUse.Mode.TOOL : mode,
                collection,
                limit == null ? KnowledgeUse.DEFAULT_LIMIT : limit,
                one(fields, "entities", KnowledgeUse.EntityScope.values(), KnowledgeUse.EntityScope::wireName));
    }

    private static <T> @Nullable T one(DefinitionFields fields, String key, T[] values, Function<T, String> name)
            throws InvalidAgentException {
        String text = fields.text(key);
        if (text == null) {
            return null;
        }
        for (T value : values) {
            if (name.apply(value).equals(text)) {
                return value;
            }
        }
        throw fields.wrong(key, "one of " + Stream.of(values).map(name).collect(Collectors.joining(", ")));
    }

    private static List<String> expose(DefinitionFields fields) throws InvalidAgentException {
        List<String> doors = fields.texts("expose");
        if (doors != null && !DOORS.containsAll(doors)) {
            throw fields.wrong("expose", "a list of: " + String.join(", ", DOORS));
        }
        return doors == null ? List.of() : doors;
    }

    private static PromptTemplate prompt(DefinitionFields fields) throws InvalidAgentException {
        try {
            return new PromptTemplate(fields.raw("prompt") instanceof String text ? text : "");
        } catch (IllegalArgumentException e) {
            throw fields.complaint("prompt", e.getMessage());
        }
    }

    private static @Nullable String fallback(DefinitionFields fields) throws InvalidAgentException {
        String fallback = fields.text("fallback");
        if (fallback != null && fallback.equals(fields.text("model"))) {
            throw fields.wrong("fallback", "another model than model");
        }
        return fallback;
    }

    private static @Nullable JsonObject output(DefinitionFields fields) throws InvalidAgentException {
        if (fields.raw("output") == null) {
            return null;
        }
        JsonObject schema = fields.object("output").values();
        try {
            JsonShape.of(schema);
            return schema;
        } catch (IllegalArgumentException e) {
            throw fields.complaint("output", e.getMessage());
        }
    }

    private static ToolSelection tools(DefinitionFields fields) throws InvalidAgentException {
        List<String> patterns = fields.texts("tools");
        if (patterns == null) {
            throw fields.wrong("tools", "a list of tools, \"*\" for all, [] for none");
        }
        try {
            return ToolSelection.of(patterns);
        } catch (IllegalArgumentException e) {
            throw fields.complaint("tools", e.getMessage());
        }
    }

    private static AgentLimits limits(DefinitionFields limits) throws InvalidAgentException {
        limits.allowOnly("iterations", "tokens", "cost", "toolCallsPerStep", "lifeTime");
        BigDecimal cost = limits.number("cost", SMALLEST_COST, LARGEST_COST);
        return new AgentLimits(
                limits.small("iterations"),
                limits.whole("tokens"),
                cost == null ? null : cost.movePointRight(6).longValue(),
                limits.small("toolCallsPerStep"),
                limits.durationMs("lifeTime"));
    }

    private static List<String> agents(DefinitionFields fields, String key, List<String> otherwise)
            throws InvalidAgentException {
        List<String> names = fields.texts(key);
        for (String name : names == null ? List.<String>of() : names) {
            if (!NAME.matcher(name).matches() && !name.equals("*")) {
                throw fields.wrong(key, "names of agents, or * for all");
            }
        }
        return names == null ? otherwise : names;
    }

    private static String hash(JsonObject json) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256")
                    .digest(Json.writeText(sorted(json)).getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, VERSION_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static @Nullable Object sorted(@Nullable Object value) {
        return switch (value) {
            case Map<?, ?> map -> {
                Map<String, @Nullable Object> sorted = new TreeMap<>();
                map.forEach((name, inner) -> sorted.put(String.valueOf(name), sorted(inner)));
                yield sorted;
            }
            case List<?> list -> list.stream().map(AgentFile::sorted).toList();
            case null -> null;
            default -> value;
        };
    }
}
