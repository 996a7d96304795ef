package dev.millrace.tools;

import dev.millrace.schemas.ToolDefinition;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The tools of this service, by name. Immutable. */
public final class ToolRegistry {

    private final Map<String, Tool> tools = new TreeMap<>();

    /**
     * A registry of these tools.
     *
     * @throws IllegalArgumentException if two have the same name (F-159)
     */
    public ToolRegistry(Collection<Tool> tools) {
        for (Tool tool : tools) {
            String name = tool.definition().name();
            if (this.tools.putIfAbsent(name, tool) != null) {
                throw new IllegalArgumentException("Tool \"" + name + "\" is registered twice");
            }
        }
    }

    /** The tool with this name. */
    public Optional<Tool> find(String name) {
        return Optional.ofNullable(tools.get(name));
    }

    /** What models are told, by name. */
    public List<ToolDefinition> definitions() {
        return tools.values().stream().map(Tool::definition).toList();
    }

    /** A name that the caller may have meant: equal but for case and punctuation, or one holds the other. */
    Optional<String> similar(String name) {
        String asked = bare(name);
        return tools.keySet().stream()
                .filter(known -> asked.length() >= 3 && (bare(known).contains(asked) || asked.contains(bare(known))))
                .findFirst();
    }

    private static String bare(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
    }
}
