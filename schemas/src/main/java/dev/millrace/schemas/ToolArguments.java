package dev.millrace.schemas;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.networknt.schema.Error;
import com.networknt.schema.ExecutionContext;
import com.networknt.schema.Schema;
import java.util.List;
import java.util.Optional;

/**
 * What arguments a tool takes, by the schema in its definition, which a stranger may have written. Workers ask before
 * they run a call; the task machine asks before it asks a person, with less patience. Safe for any thread.
 */
public final class ToolArguments {

    /** The largest schema that is read by who has no patience, in characters of JSON. */
    public static final int MAX_SCHEMA = 200_000;
    /** What one check may cost who has no patience, in keywords of a schema looked at: some tens of milliseconds. */
    public static final long MAX_STEPS = 200_000;

    private static final int MAX_SENTENCES = 50;
    /** Reads numbers as the validator does itself. */
    private static final ObjectMapper PLAIN = JsonMapper.builder().build();

    private final JsonObject parameters;
    private final Schema schema;

    private ToolArguments(JsonObject parameters, String json) {
        this.parameters = parameters;
        this.schema = ForeignSchemas.ofStrangers().getSchema(json);
    }

    /**
     * Reads the schema of a tool.
     *
     * @throws RuntimeException if it is none
     */
    public static ToolArguments of(ToolDefinition tool) {
        return new ToolArguments(tool.parameters(), Json.writeText(tool.parameters()));
    }

    /** The same for who has no patience; empty if the schema is none, or too much to read. */
    public static Optional<ToolArguments> soon(ToolDefinition tool) {
        String json = Json.writeText(tool.parameters());
        if (json.length() > MAX_SCHEMA) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    ForeignSchemas.within(new StepBudget(MAX_STEPS), () -> new ToolArguments(tool.parameters(), json)));
        } catch (RuntimeException | StackOverflowError e) {
            // whatever the library stumbles over in a stranger's schema: the worker will say so
            return Optional.empty();
        }
    }

    /** Whether this checks what the definition says; that of a tool that comes and goes may change. */
    public boolean areOf(ToolDefinition tool) {
        return parameters.equals(tool.parameters());
    }

    /**
     * What is wrong with arguments, in sentences for models; an empty list if nothing is. Absent if it cannot be said
     * at that cost.
     *
     * @param steps keywords of a schema looked at, 1 or more
     */
    public Optional<List<String>> problems(JsonObject arguments, long steps) {
        StepBudget budget = new StepBudget(steps);
        try {
            JsonNode json = PLAIN.readTree(Json.writeText(arguments));
            return Optional.of(ForeignSchemas.within(budget, () -> {
                ExecutionContext check = budget.of(schema.createExecutionContext());
                schema.validate(check, json);
                return sentences(check.getErrors());
            }));
        } catch (JsonProcessingException | RuntimeException | StackOverflowError e) {
            // as above
            return Optional.empty();
        }
    }

    /** The same for who has no patience; also empty if it cannot be said at {@link #MAX_STEPS}. */
    public List<String> problemsSoon(JsonObject arguments) {
        return problems(arguments, MAX_STEPS).orElse(List.of());
    }

    private static List<String> sentences(List<Error> errors) {
        return errors.stream()
                .limit(MAX_SENTENCES)
                .map(error -> error.getInstanceLocation() + " " + error.getMessage())
                .map(String::strip)
                .toList();
    }
}
