package dev.millrace.tools;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import dev.millrace.schemas.ForeignSchemas;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.ToolDefinition;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Checks the arguments of a tool against its schema. Safe for any thread. */
final class Arguments {

    private final Map<String, @Nullable Object> parameters;
    private final Schema schema;

    Arguments(ToolDefinition tool) {
        parameters = tool.parameters();
        schema = ForeignSchemas.ofStrangers().getSchema(Json.writeText(tool.parameters()));
    }

    /** Whether this checks what the definition says; that of a tool that comes and goes may change. */
    boolean areOf(ToolDefinition tool) {
        return parameters.equals(tool.parameters());
    }

    /** What is wrong, in sentences; empty if nothing is. */
    List<String> problems(Map<String, @Nullable Object> params) {
        return schema.validate(Json.writeText(params), InputFormat.JSON).stream()
                .map(error -> error.getInstanceLocation() + " " + error.getMessage())
                .map(String::strip)
                .toList();
    }
}
