package dev.millrace.agent;

import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.ToolCall;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ToolDefinition;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which tools an agent sees, and what becomes of a call (F-154): the model sees only its agent's tools, and a call outside
 * of them is refused before anything runs. Agents go by their name or, for a task that runs, by the reference to the version
 * that it began with. Safe for any thread.
 */
public final class ToolRouting {

    private final Agents agents;
    private final ToolCatalogue catalogue;
    private final Approvals approvals;
    private final SubAgents subAgents;

    public ToolRouting(Agents agents, ToolCatalogue catalogue, Approvals approvals) {
        this.agents = agents;
        this.catalogue = catalogue;
        this.approvals = approvals;
        this.subAgents = new SubAgents(agents);
    }

    /** The tools of an agent, by name. */
    public List<ToolDefinition> visibleTo(String reference) {
        AgentDefinition agent = agents.of(reference);
        return Stream.concat(
                        catalogue.all().stream().filter(tool -> agent.allows(tool.name())),
                        subAgents.visibleTo(agent).stream())
                .sorted(Comparator.comparing(ToolDefinition::name))
                .toList();
    }

    /** The agent for the task that this event starts; see {@link Agents#pin}. */
    public AgentPin pin(String taskType, Event start, Instant now) {
        return agents.pin(taskType, start, now);
    }

    /** Whether the tool calls of one step of this agent run one after the other. */
    public boolean sequential(String reference) {
        return agents.of(reference).steps().sequential();
    }

    /** What a task of this agent may use at most, beside what the configuration allows any task. */
    public TaskLimits limits(String reference) {
        return agents.of(reference).limits().asTaskLimits();
    }

    /**
     * Where a call of this agent goes, and who has to agree first.
     *
     * @param arguments JSON values, as the model gave them
     */
    public ToolCall.Route route(
            String reference, String namespace, String toolName, Map<String, @Nullable Object> arguments) {
        if (SubAgents.owns(toolName)) {
            return subAgents.route(agents.of(reference), toolName, arguments);
        }
        ToolDefinition tool = catalogue.find(toolName);
        if (tool == null) {
            return new ToolCall.Refuse(
                    "tool_not_found", "Tool \"" + toolName + "\" not found" + suggestion(reference, toolName));
        }
        AgentDefinition agent = agents.of(reference);
        if (!agent.allows(toolName)) {
            return new ToolCall.Refuse(
                    "tool_not_allowed",
                    "Tool \"" + toolName + "\" is not available for task type \"" + AgentDefinition.nameIn(reference)
                            + "\"");
        }
        return new ToolCall.Run(
                tool.toolset(),
                tool.timeoutMs(),
                approvals.of(agent.name(), agent.approval(), tool, namespace, arguments));
    }

    private String suggestion(String reference, String toolName) {
        return visibleTo(reference).stream()
                .map(ToolDefinition::name)
                .filter(name -> alike(name, toolName))
                .findFirst()
                .map(name -> ". Did you mean \"" + name + "\"?")
                .orElse("");
    }

    /** Alike = equal but for case and punctuation, or one holds the other. */
    private static boolean alike(String name, String asked) {
        String a = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
        String b = asked.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
        return b.length() >= 3 && (a.contains(b) || b.contains(a));
    }
}
