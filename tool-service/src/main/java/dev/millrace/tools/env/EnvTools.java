package dev.millrace.tools.env;

import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import jakarta.validation.constraints.Size;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Variables of a conversation, or of the task if it has none. The environment of the process can be read where the
 * operator allows it, and stays as it is: it belongs to all tenants.
 */
public final class EnvTools {

    /** The longest name, in characters. */
    static final int MAX_KEY = 200;
    /** The longest value, in characters. */
    static final int MAX_VALUE = 10_000;
    /**
     * How long the model waits for a variable; the first one after a start has to be looked for among all that there
     * are.
     */
    private static final int TIMEOUT_MS = 20_000;

    private final Variables variables;
    private final List<String> allowed;
    private final UnaryOperator<@Nullable String> environment;

    /**
     * Reads and sets these variables.
     *
     * @param variables those that conversations set
     * @param allowed names of environment variables, or beginnings of names with {@code *} after them
     * @param environment gives the value of a variable; {@code null} = it is not set
     * @throws IllegalArgumentException if {@code *} is anywhere else, or alone
     */
    public EnvTools(Variables variables, List<String> allowed, UnaryOperator<@Nullable String> environment) {
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

    /** A variable that was read. */
    record Variable(String key, String value) {}

    /** A variable that was set. */
    record Kept(String key, String scope) {}

    @Tool(
            name = "get_env",
            value = "Reads a variable: one that set_env set in this conversation, or an environment variable that tools"
                    + " may read.",
            sideEffects = SideEffects.READ_ONLY,
            timeoutMs = TIMEOUT_MS)
    Variable get(@Param("The name of the variable.") @Size(min = 1, max = MAX_KEY) String key, ToolContext context)
            throws ToolException, InterruptedException {
        Optional<String> own = variables.get(Variables.Scope.of(context), key);
        String value = own.isPresent() ? own.get() : operators(key);
        if (value == null) {
            // nobody is to find out in this way what there is
            throw new ToolException(
                    "env_not_set", "The variable \"" + key + "\" is not set, or is not one that tools may read");
        }
        return new Variable(key, value);
    }

    private @Nullable String operators(String key) {
        return allowed.stream().anyMatch(pattern -> matches(pattern, key)) ? environment.apply(key) : null;
    }

    private static boolean matches(String pattern, String key) {
        return pattern.endsWith("*") ? key.startsWith(pattern.substring(0, pattern.length() - 1)) : key.equals(pattern);
    }

    @Tool(
            name = "set_env",
            value = "Sets a variable that get_env gives back later in this conversation. It is not seen outside of it.",
            sideEffects = SideEffects.IDEMPOTENT,
            timeoutMs = TIMEOUT_MS)
    Kept set(
            @Param("The name of the variable.") @Size(min = 1, max = MAX_KEY) String key,
            @Param("The value, up to " + MAX_VALUE + " characters. An empty one is a value too.") String value,
            ToolContext context)
            throws ToolException, InterruptedException {
        if (value.length() > MAX_VALUE) {
            throw new ToolException(
                    "value_too_long",
                    "expected a value of up to " + MAX_VALUE + " characters, found " + value.length());
        }
        Variables.Scope scope = Variables.Scope.of(context);
        variables.set(scope, key, value);
        return new Kept(key, scope.kind());
    }
}
