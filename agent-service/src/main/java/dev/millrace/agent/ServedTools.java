package dev.millrace.agent;

import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.ToolDefinition;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tool catalogue as the definitions topic has it. A tool whose toolset has no request topic, or has none any more,
 * is not shown to anybody before it has one.
 */
public final class ServedTools implements ToolCatalogue, DefinitionTaker {

    private static final Logger LOGGER = LoggerFactory.getLogger(ServedTools.class);

    private final Predicate<String> hasTopic;
    private final Map<String, ToolDefinition> tools = new ConcurrentHashMap<>();
    private final Map<String, ToolDefinition> waiting = new ConcurrentHashMap<>();
    private volatile List<ToolDefinition> processors = List.of();
    private volatile List<ToolDefinition> all = List.of();

    /** A catalogue without tools; {@code hasTopic} says whether a toolset can be asked, and may block. */
    public ServedTools(Predicate<String> hasTopic) {
        this.hasTopic = hasTopic;
    }

    @Override
    public void take(String id, byte @Nullable [] value) throws MalformedEventException {
        if (value == null) {
            tools.remove(id);
            waiting.remove(id);
            order();
            return;
        }
        ToolDefinition tool = ToolDefinition.fromJson(value);
        if (!tool.name().equals(id)) {
            throw new MalformedEventException(
                    "bad_definition", "expected the key " + ToolDefinition.key(tool.name()) + ", found the id " + id);
        }
        if (hasTopic.test(tool.toolset())) {
            waiting.remove(id);
            tools.put(id, tool);
        } else {
            tools.remove(id);
            waiting.put(id, tool);
            LOGGER.atWarn()
                    .addKeyValue("toolName", id)
                    .addKeyValue("toolset", tool.toolset())
                    .log("A tool's toolset has no request topic, it is left out until it has one");
        }
        order();
    }

    /** Both are looked at for every event or call, so they are put in order when there is a change. */
    private void order() {
        all = tools.values().stream()
                .sorted(Comparator.comparing(ToolDefinition::name))
                .toList();
        processors = ToolCatalogue.inOrder(Stream.concat(tools.values().stream(), waiting.values().stream()));
    }

    @Override
    public List<ToolDefinition> processors() {
        return processors;
    }

    @Override
    public void beginAnew() {
        tools.clear();
        waiting.clear();
        order();
    }

    @Override
    public void lookAgain() {
        Set<String> askable = toolsets().stream().filter(hasTopic).collect(Collectors.toUnmodifiableSet());
        waiting.forEach((id, tool) -> {
            if (askable.contains(tool.toolset())) {
                waiting.remove(id);
                tools.put(id, tool);
                LOGGER.atInfo().addKeyValue("toolName", id).log("A tool's toolset has its request topic now");
            }
        });
        tools.forEach((id, tool) -> {
            if (!askable.contains(tool.toolset())) {
                waiting.put(id, tool);
                tools.remove(id);
                LOGGER.atWarn()
                        .addKeyValue("toolName", id)
                        .addKeyValue("toolset", tool.toolset())
                        .log("A tool's toolset has no request topic any more, it is left out until it has one");
            }
        });
        order();
    }

    /** Every toolset that there are tools of, also of those that are left out. */
    public Set<String> toolsets() {
        return Stream.concat(tools.values().stream(), waiting.values().stream())
                .map(ToolDefinition::toolset)
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public @Nullable ToolDefinition find(String toolName) {
        return tools.get(toolName);
    }

    @Override
    public List<ToolDefinition> all() {
        return all;
    }
}
