package dev.millrace.tools.env;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * {@code get_env{key}} (F-169): what {@link SetEnv} set in this conversation; otherwise the environment variables that the
 * operator has named, and no others.
 */
public final class GetEnv implements Tool {

    /** How long the model waits for a variable; the first one after a start has to be looked for among all that there are. */
    static final int TIMEOUT_MS = 20_000;

    private final Variables variables;
    private final List<String> allowed;
    private final UnaryOperator<@Nullable String> environment;

    /**
     * Reads these variables.
     *
     * @param variables those that conversations set
     * @param allowed names, or beginnings of names with {@code *} after them
     * @param environment gives the value of a variable; {@code null} = it is not set
     * @throws IllegalArgumentException if {@code *} is anywhere else, or alone
     */
    public GetEnv(Variables variables, List<String> allowed, UnaryOperator<@Nullable String> environment) {
        for (String pattern : allowed) {
            int star = pattern.indexOf('*');
            if (pattern.isBlank() || star == 0 || (star > 0 && star < pattern.length() - 1)) {
                throw new IllegalArgumentException(
                        "millrace.tools.env.allow: expected names, or beginnings of names with * after them, found \""
                                + pattern + "\"");
            }
        }
        this.variables = variables;
        this.allowed = List.copyOf(allowed);
        this.environment = environment;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "get_env",
                "Reads a variable: one that set_env set in this conversation, or an environment variable that tools may read.",
                object(Map.of("key", text("The name of the variable.", 200)), "key"),
                "tool",
                TIMEOUT_MS,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context)
            throws ToolException, InterruptedException {
        String key = String.valueOf(params.get("key"));
        Optional<String> own = variables.get(Variables.Scope.of(context), key);
        String value = own.isPresent() ? own.get() : operators(key);
        if (value == null) {
            // nobody is to find out in this way what there is
            throw new ToolException(
                    "env_not_set", "The variable \"" + key + "\" is not set, or is not one that tools may read");
        }
        return Map.of("key", key, "value", value);
    }

    private @Nullable String operators(String key) {
        return allowed.stream().anyMatch(pattern -> matches(pattern, key)) ? environment.apply(key) : null;
    }

    private static boolean matches(String pattern, String key) {
        return pattern.endsWith("*") ? key.startsWith(pattern.substring(0, pattern.length() - 1)) : key.equals(pattern);
    }
}
