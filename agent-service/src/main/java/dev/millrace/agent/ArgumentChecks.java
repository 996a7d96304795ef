package dev.millrace.agent;

import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.ToolArguments;
import dev.millrace.schemas.ToolDefinition;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Whether arguments are such that a tool can take them, by the schema in its definition. What cannot be said within
 * some tens of milliseconds is left to the tool's worker, so that no schema holds up a machine. Safe for any thread.
 */
final class ArgumentChecks {

    /** As much as a worker tells a model, in characters. */
    private static final int MAX_WORDS = 10_000;
    /** Tools are few; this only bounds what a year of changes leaves behind. */
    private static final int MAX_SCHEMAS = 1_000;

    private final Map<String, Read> schemas = new ConcurrentHashMap<>();

    /**
     * A schema.
     *
     * @param arguments empty = it cannot be read, or not soon
     */
    private record Read(JsonObject schema, Optional<ToolArguments> arguments) {}

    /** What a model is told of arguments that do not fit; empty if they do, or if that cannot be said soon. */
    String problems(ToolDefinition tool, JsonObject arguments) {
        if (schemas.size() >= MAX_SCHEMAS) {
            schemas.clear();
        }
        Read read = schemas.get(tool.name());
        if (read == null || !read.schema().equals(tool.parameters())) {
            read = new Read(tool.parameters(), ToolArguments.soon(tool));
            schemas.put(tool.name(), read);
        }
        return read.arguments()
                .map(known -> known.problemsSoon(arguments))
                .filter(problems -> !problems.isEmpty())
                .map(problems -> JsonText.cut("VALIDATION ERROR: " + String.join("; ", problems), MAX_WORDS))
                .orElse("");
    }
}
