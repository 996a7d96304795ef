package dev.millrace.agent;

import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.ToolDefinition;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The tool catalogue as the definitions topic has it. */
public final class ServedTools implements ToolCatalogue, DefinitionTaker {

    private final Map<String, ToolDefinition> tools = new ConcurrentHashMap<>();

    @Override
    public void take(String id, byte @Nullable [] value) throws MalformedEventException {
        if (value == null) {
            tools.remove(id);
        } else {
            ToolDefinition tool = ToolDefinition.fromJson(value);
            tools.put(tool.name(), tool);
        }
    }

    @Override
    public @Nullable ToolDefinition find(String toolName) {
        return tools.get(toolName);
    }

    @Override
    public List<ToolDefinition> all() {
        return tools.values().stream()
                .sorted(Comparator.comparing(ToolDefinition::name))
                .toList();
    }
}
