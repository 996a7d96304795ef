package dev.millrace.tools.env;

import static dev.millrace.tools.JsonSchemas.anyText;
import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code set_env{key,value}} (F-169): sets a variable for the conversation, or for the task if it has none. The environment
 * of the process stays as it is: it belongs to all tenants.
 */
public final class SetEnv implements Tool {

    /** The longest name, in characters. */
    static final int MAX_KEY = 200;
    /** The longest value, in characters. */
    static final int MAX_VALUE = 10_000;

    private final Variables variables;

    public SetEnv(Variables variables) {
        this.variables = variables;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "set_env",
                "Sets a variable that get_env gives back later in this conversation. It is not seen outside of it.",
                object(
                        Map.of(
                                "key",
                                text("The name of the variable.", MAX_KEY),
                                "value",
                                anyText("The value, up to " + MAX_VALUE + " characters. An empty one is a value too.")),
                        "key",
                        "value"),
                "tool",
                GetEnv.TIMEOUT_MS,
                ToolDefinition.SideEffects.IDEMPOTENT);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context)
            throws ToolException, InterruptedException {
        String key = String.valueOf(params.get("key"));
        String value = String.valueOf(params.get("value"));
        if (value.length() > MAX_VALUE) {
            throw new ToolException(
                    "value_too_long",
                    "expected a value of up to " + MAX_VALUE + " characters, found " + value.length());
        }
        Variables.Scope scope = Variables.Scope.of(context);
        variables.set(scope, key, value);
        return Map.of("key", key, "scope", scope.kind());
    }
}
