package dev.millrace.tools;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** {@code get_env{key}} (F-169): environment variables that the operator has named, and no others. */
public final class GetEnv implements Tool {

    private final List<String> allowed;
    private final UnaryOperator<@Nullable String> environment;

    /**
     * Reads these variables.
     *
     * @param allowed names, or beginnings of names with {@code *} after them
     * @param environment gives the value of a variable; {@code null} = it is not set
     * @throws IllegalArgumentException if {@code *} is anywhere else, or alone
     */
    public GetEnv(List<String> allowed, UnaryOperator<@Nullable String> environment) {
        for (String pattern : allowed) {
            int star = pattern.indexOf('*');
            if (pattern.isBlank() || star == 0 || (star > 0 && star < pattern.length() - 1)) {
                throw new IllegalArgumentException(
                        "millrace.tools.env.allow: expected names, or beginnings of names with * after them, found \""
                                + pattern + "\"");
            }
        }
        this.allowed = List.copyOf(allowed);
        this.environment = environment;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "get_env",
                "Reads an environment variable, if it is one that tools may read.",
                object(Map.of("key", text("The name of the variable.", 200)), "key"),
                "tool",
                5_000,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) throws ToolException {
        String key = String.valueOf(params.get("key"));
        String value = allowed.stream().anyMatch(pattern -> matches(pattern, key)) ? environment.apply(key) : null;
        if (value == null) {
            // nobody is to find out in this way what there is
            throw new ToolException(
                    "env_not_set", "The variable \"" + key + "\" is not set, or is not one that tools may read");
        }
        return Map.of("key", key, "value", value);
    }

    private static boolean matches(String pattern, String key) {
        return pattern.endsWith("*") ? key.startsWith(pattern.substring(0, pattern.length() - 1)) : key.equals(pattern);
    }
}
