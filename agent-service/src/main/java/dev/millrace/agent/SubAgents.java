package dev.millrace.agent;

import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.ToolCall;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.ToolDefinition;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The tools by which an agent has others work for it: the machine carries them out itself, no worker sees them. An
 * agent has them if it names sub-agents; for a task that another one started, those that all agents above it name as
 * well.
 */
final class SubAgents {

    static final String SPAWN = "spawn_task";
    static final String RESUME = "resume_task";
    static final String DELEGATE = "delegate_task";
    static final String STOP = "stop_task";
    static final String ASK = "ask_question";

    /** In the list of an agent's sub-agents: every agent. */
    private static final String ALL = "*";

    /** As long as a message may be. */
    private static final int MAX_INPUT = 100_000;

    private static final Pattern TASK_ID = Pattern.compile("[0-9a-f]{32}");

    private static final int MAX_DESCRIPTION = 500;
    /** So much of a question says what its session is about, in characters. */
    private static final int MAX_QUESTION = 100;
    /** The longest time that a model may give a task in the background, in seconds. */
    private static final long MAX_TIMEOUT_S = 7 * 24 * 3600;

    private static final Set<String> OWN = Set.of(SPAWN, RESUME, DELEGATE, STOP, ASK);

    private final Agents agents;
    private final Duration backgroundTimeout;

    /**
     * Of these agents.
     *
     * @param backgroundTimeout how long a delegated task in the background may take unless the model says otherwise
     */
    SubAgents(Agents agents, Duration backgroundTimeout) {
        this.agents = agents;
        this.backgroundTimeout = backgroundTimeout;
    }

    static boolean owns(String toolName) {
        return OWN.contains(toolName);
    }

    /**
     * The tools, if a task that is bound by these agents has them.
     *
     * @param here which agents there are for its namespace
     */
    List<ToolDefinition> visibleTo(List<AgentDefinition> binding, Predicate<String> here) {
        List<String> types = types(binding, here);
        if (types.isEmpty()) {
            return List.of();
        }
        // who works for another task delegates no further
        return binding.size() > 1
                ? List.of(ask(types), resume(), spawn(types))
                : List.of(ask(types), delegate(types), resume(), spawn(types), stop());
    }

    private List<String> types(List<AgentDefinition> binding, Predicate<String> here) {
        return binding.isEmpty()
                ? List.of()
                : agents.all().stream()
                        .map(current -> current.definition().name())
                        .filter(name -> here.test(name) && binding.stream().allMatch(agent -> names(agent, name)))
                        .toList();
    }

    private static boolean names(AgentDefinition agent, String name) {
        List<String> named = agent.steps().subAgents();
        return named.contains(ALL) || named.contains(name);
    }

    private String describe(List<String> types) {
        return agents.all().stream()
                .map(Agents.Current::definition)
                .filter(agent -> types.contains(agent.name()))
                .map(agent -> agent.name() + ": " + agent.description())
                .collect(Collectors.joining(" "));
    }

    private ToolDefinition delegate(List<String> types) {
        return new ToolDefinition(
                DELEGATE,
                "Has a sub-agent do something in a session of its own. It sees nothing of this conversation but the prompt,"
                        + " and delegates no further. The result is its answer; in the background the result is at once"
                        + " {status: accepted, task_id, session_id}, and its end is told later. Types: "
                        + describe(types),
                object(
                        Map.of(
                                "description",
                                text("A few words that say what it is about, for people."),
                                "prompt",
                                text("What the sub-agent is to do, complete in itself."),
                                "subagent_type",
                                Map.of(
                                        "type",
                                        "string",
                                        "enum",
                                        types,
                                        "description",
                                        "Which sub-agent. general if absent."),
                                "background",
                                Map.of("type", "boolean", "description", "Go on meanwhile. False if absent."),
                                "timeout",
                                Map.of(
                                        "type",
                                        "integer",
                                        "minimum",
                                        1,
                                        "maximum",
                                        MAX_TIMEOUT_S,
                                        "description",
                                        "Seconds after which it is ended. In the background "
                                                + backgroundTimeout.toSeconds() + " if absent."),
                                "cleanup",
                                Map.of(
                                        "type",
                                        "string",
                                        "enum",
                                        List.of("keep", "delete"),
                                        "description",
                                        "Whether its session is kept when it has ended. keep if absent."),
                                "task_id",
                                text("A task that has completed, to go on with the prompt; not in the background.")),
                        List.of("description", "prompt")),
                "machine",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.DESTRUCTIVE);
    }

    private ToolDefinition ask(List<String> types) {
        return new ToolDefinition(
                ASK,
                "Asks another agent something and waits for its answer, which is the result. It is asked in a session of its"
                        + " own and sees nothing of this conversation but the question. Agents: " + describe(types),
                object(
                        Map.of(
                                "agent",
                                Map.of("type", "string", "enum", types, "description", "Which agent."),
                                "question",
                                text("The question, complete in itself.")),
                        List.of("agent", "question")),
                "machine",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.DESTRUCTIVE);
    }

    private static ToolDefinition stop() {
        return new ToolDefinition(
                STOP,
                "Ends a task that works for this one in the background. That it has ended is told later.",
                object(Map.of("task_id", text("The id of the task.")), List.of("task_id")),
                "machine",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.DESTRUCTIVE);
    }

    private ToolDefinition spawn(List<String> types) {
        String who = describe(types);
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
     * @param here which agents there are for its namespace
     * @param taskType the task's own agent
     */
    ToolCall.Route route(
            List<AgentDefinition> binding,
            Predicate<String> here,
            String taskType,
            String toolName,
            JsonObject arguments) {
        List<String> types = types(binding, here);
        if (types.isEmpty()) {
            return new ToolCall.Refuse(
                    "tool_not_allowed",
                    "Tool \"" + toolName + "\" is not available for task type \"" + taskType + "\"");
        }
        if (toolName.equals(DELEGATE) || toolName.equals(STOP)) {
            return binding.size() > 1
                    ? new ToolCall.Refuse(
                            "tool_not_allowed",
                            "Tool \"" + toolName + "\" is not available for task type \"" + taskType
                                    + "\", since it works for another task")
                    : toolName.equals(STOP) ? stop(arguments) : delegate(types, arguments);
        }
        if (toolName.equals(ASK)) {
            return ask(types, arguments);
        }
        if (!(arguments.get("input") instanceof String input) || input.isBlank() || input.length() > MAX_INPUT) {
            return invalid("input: expected a text of 1 to " + MAX_INPUT + " characters that is not blank");
        }
        return toolName.equals(SPAWN) ? spawn(types, input, arguments) : resume(input, arguments);
    }

    private static ToolCall.Route stop(JsonObject arguments) {
        return arguments.get("task_id") instanceof String taskId
                        && TASK_ID.matcher(taskId).matches()
                ? new ToolCall.Stop(taskId)
                : invalid("task_id: expected the id of a sub-task, found " + arguments.get("task_id"));
    }

    private ToolCall.Route delegate(List<String> types, JsonObject arguments) {
        if (!(arguments.get("description") instanceof String description)
                || description.isBlank()
                || description.length() > MAX_DESCRIPTION) {
            return invalid("description: expected a text of 1 to " + MAX_DESCRIPTION
                    + " characters that is not blank, found " + arguments.get("description"));
        }
        if (!(arguments.get("prompt") instanceof String prompt) || prompt.isBlank() || prompt.length() > MAX_INPUT) {
            return invalid("prompt: expected a text of 1 to " + MAX_INPUT + " characters that is not blank");
        }
        Object type = arguments.get("subagent_type") == null ? Agents.DEFAULT : arguments.get("subagent_type");
        Object background = arguments.get("background") == null ? false : arguments.get("background");
        Object cleanup = arguments.get("cleanup") == null ? "keep" : arguments.get("cleanup");
        Object timeout = arguments.get("timeout");
        if (!(type instanceof String name) || !types.contains(name)) {
            return invalid("subagent_type: expected one of " + types + ", found " + type);
        }
        if (!(background instanceof Boolean inBackground)) {
            return invalid("background: expected true or false, found " + background);
        }
        if (!cleanup.equals("keep") && !cleanup.equals("delete")) {
            return invalid("cleanup: expected keep or delete, found " + cleanup);
        }
        if (timeout != null && !isTimeout(timeout)) {
            return invalid(
                    "timeout: expected a whole number of seconds from 1 to " + MAX_TIMEOUT_S + ", found " + timeout);
        }
        if (arguments.get("task_id") != null) {
            return inBackground || timeout != null || cleanup.equals("delete")
                    ? invalid("task_id: expected no background, timeout or cleanup beside it: a task that goes on is"
                            + " waited for, and kept")
                    : resume(prompt, arguments);
        }
        long otherwiseMs = inBackground ? backgroundTimeout.toMillis() : TaskLimits.NONE;
        long timeoutMs = timeout instanceof Number seconds ? seconds.longValue() * 1000 : otherwiseMs;
        return new ToolCall.Spawn(
                name, prompt, inBackground, new ToolCall.Errand(description, timeoutMs, cleanup.equals("delete")));
    }

    private static ToolCall.Route ask(List<String> types, JsonObject arguments) {
        if (!(arguments.get("agent") instanceof String name) || !types.contains(name)) {
            return invalid("agent: expected one of " + types + ", found " + arguments.get("agent"));
        }
        if (!(arguments.get("question") instanceof String question)
                || question.isBlank()
                || question.length() > MAX_INPUT) {
            return invalid("question: expected a text of 1 to " + MAX_INPUT + " characters that is not blank");
        }
        return new ToolCall.Spawn(
                name,
                question,
                false,
                new ToolCall.Errand(JsonText.cut(question, MAX_QUESTION), TaskLimits.NONE, false));
    }

    private static boolean isTimeout(Object value) {
        return (value instanceof Integer || value instanceof Long)
                && ((Number) value).longValue() >= 1
                && ((Number) value).longValue() <= MAX_TIMEOUT_S;
    }

    private static ToolCall.Route spawn(List<String> types, String input, JsonObject arguments) {
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

    private static ToolCall.Route resume(String input, JsonObject arguments) {
        return arguments.get("task_id") instanceof String taskId
                        && TASK_ID.matcher(taskId).matches()
                ? new ToolCall.Resume(taskId, input)
                : invalid("task_id: expected the id of a sub-task, found " + arguments.get("task_id"));
    }

    private static ToolCall.Refuse invalid(String problem) {
        return new ToolCall.Refuse("invalid_arguments", "VALIDATION ERROR: " + problem);
    }

    private static JsonObject object(Map<String, Object> properties, List<String> required) {
        return JsonObject.of(Map.of("type", "object", "properties", properties, "required", required));
    }

    private static Map<String, Object> text(String description) {
        return Map.of("type", "string", "description", description);
    }
}
