package dev.millrace.agent;

import dev.millrace.agent.core.ToolCall;
import dev.millrace.schemas.ToolDefinition;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The tools by which an agent has others work for it: the machine carries them out itself, no worker sees them. An
 * agent has them if it names sub-agents; for a task that another one started, those that all agents above it name as
 * well.
 */
final class SubAgents {

    static final String SPAWN = "spawn_task";
    static final String RESUME = "resume_task";

    /** In the list of an agent's sub-agents: every agent. */
    private static final String ALL = "*";

    /** As long as a message may be. */
    private static final int MAX_INPUT = 100_000;

    private static final Pattern TASK_ID = Pattern.compile("[0-9a-f]{32}");

    private final Agents agents;

    SubAgents(Agents agents) {
        this.agents = agents;
    }

    static boolean owns(String toolName) {
        return toolName.equals(SPAWN) || toolName.equals(RESUME);
    }

    /** The tools, if a task that is bound by these agents has them. */
    List<ToolDefinition> visibleTo(List<AgentDefinition> binding) {
        List<String> types = types(binding);
        return types.isEmpty() ? List.of() : List.of(resume(), spawn(types));
    }

    private List<String> types(List<AgentDefinition> binding) {
        return binding.isEmpty()
                ? List.of()
                : agents.all().stream()
                        .map(current -> current.definition().name())
                        .filter(name -> binding.stream().allMatch(agent -> names(agent, name)))
                        .toList();
    }

    private static boolean names(AgentDefinition agent, String name) {
        List<String> named = agent.steps().subAgents();
        return named.contains(ALL) || named.contains(name);
    }

    private ToolDefinition spawn(List<String> types) {
        String who = agents.all().stream()
                .map(Agents.Current::definition)
                .filter(agent -> types.contains(agent.name()))
                .map(agent -> agent.name() + ": " + agent.description())
                .collect(Collectors.joining(" "));
        return new ToolDefinition(
                SPAWN,
                "Has a sub-agent do a part of the work as a task of its own, which sees nothing of this conversation but the"
                        + " input. The result is its answer; in the background the result is the task's id at once, and its"
                        + " answer is told later. Types: " + who,
                object(
                        Map.of(
                                "description",
                                text("A few words that say what it is about, for people."),
                                "input",
                                text("What the sub-agent is to do, complete in itself."),
                                "type",
                                Map.of("type", "string", "enum", types, "description", "Which sub-agent."),
                                "background",
                                Map.of("type", "boolean", "description", "Go on meanwhile. False if absent.")),
                        List.of("input")),
                "machine",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.DESTRUCTIVE);
    }

    private static ToolDefinition resume() {
        return new ToolDefinition(
                RESUME,
                "Gives a sub-task that has completed something more to do; it remembers what it did. The result is its new"
                        + " answer.",
                object(
                        Map.of("task_id", text("The id of the sub-task."), "input", text("What it is to do now.")),
                        List.of("task_id", "input")),
                "machine",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.DESTRUCTIVE);
    }

    /**
     * What becomes of a call.
     *
     * @param binding the agents that bind the task; empty = one of them is gone
     * @param taskType the task's own agent
     */
    ToolCall.Route route(
            List<AgentDefinition> binding, String taskType, String toolName, Map<String, @Nullable Object> arguments) {
        List<String> types = types(binding);
        if (types.isEmpty()) {
            return new ToolCall.Refuse(
                    "tool_not_allowed",
                    "Tool \"" + toolName + "\" is not available for task type \"" + taskType + "\"");
        }
        if (!(arguments.get("input") instanceof String input) || input.isBlank() || input.length() > MAX_INPUT) {
            return invalid("input: expected a text of 1 to " + MAX_INPUT + " characters that is not blank");
        }
        return toolName.equals(SPAWN) ? spawn(types, input, arguments) : resume(input, arguments);
    }

    private static ToolCall.Route spawn(List<String> types, String input, Map<String, @Nullable Object> arguments) {
        Object type = arguments.get("type") == null ? Agents.DEFAULT : arguments.get("type");
        Object background = arguments.getOrDefault("background", false);
        if (!(type instanceof String name) || !types.contains(name)) {
            return invalid("type: expected one of " + types + ", found " + type);
        }
        if (!(background instanceof Boolean inBackground)) {
            return invalid("background: expected true or false, found " + background);
        }
        return new ToolCall.Spawn(name, input, inBackground);
    }

    private static ToolCall.Route resume(String input, Map<String, @Nullable Object> arguments) {
        return arguments.get("task_id") instanceof String taskId
                        && TASK_ID.matcher(taskId).matches()
                ? new ToolCall.Resume(taskId, input)
                : invalid("task_id: expected the id of a sub-task, found " + arguments.get("task_id"));
    }

    private static ToolCall.Refuse invalid(String problem) {
        return new ToolCall.Refuse("invalid_arguments", "VALIDATION ERROR: " + problem);
    }

    private static Map<String, @Nullable Object> object(Map<String, Object> properties, List<String> required) {
        return Map.of("type", "object", "properties", properties, "required", required);
    }

    private static Map<String, Object> text(String description) {
        return Map.of("type", "string", "description", description);
    }
}
