package dev.millrace.agent;

import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.ToolCall;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which tools a task sees, and what becomes of a call: the model sees only its agent's tools, and a call outside
 * of them is refused before anything runs. A task that another one started may do what its own agent may and each agent
 * above it as well, each in the version that its task began with. Safe for any thread.
 */
public final class ToolRouting {

    private static final int KINDS_KEPT = 1_000;

    private final Agents agents;
    private final ToolCatalogue catalogue;
    private final Approvals approvals;
    private final SubAgents subAgents;
    private final Reserved reserved;
    private final ArgumentChecks checks = new ArgumentChecks();
    /** What was worked out for the last call of each kind of task; few kinds, many calls. */
    private final Map<Bound, Visible> visible = new ConcurrentHashMap<>();

    /** One whose delegated tasks may take a quarter of an hour in the background. */
    public ToolRouting(Agents agents, ToolCatalogue catalogue, Approvals approvals) {
        this(agents, catalogue, approvals, Reserved.NOTHING, Duration.ofMinutes(15));
    }

    /**
     * For these agents and tools.
     *
     * @param reserved what is not for the tasks of all namespaces
     * @param backgroundTimeout how long a delegated task in the background may take unless the model says otherwise
     */
    public ToolRouting(
            Agents agents,
            ToolCatalogue catalogue,
            Approvals approvals,
            Reserved reserved,
            Duration backgroundTimeout) {
        this.agents = agents;
        this.catalogue = catalogue;
        this.approvals = approvals;
        this.reserved = reserved;
        this.subAgents = new SubAgents(agents, backgroundTimeout);
    }

    /**
     * The tools of an agent that is in force, by name; none if there is no such agent.
     *
     * @param namespaces what tasks of one of these have; {@code null} = whatever is reserved for anybody
     */
    public List<ToolDefinition> visibleTo(String agent, @Nullable Collection<String> namespaces) {
        List<AgentDefinition> binding = binding(new AgentPin(agent, null, Map.of()));
        return binding.isEmpty()
                ? List.of()
                : visibleTo(
                        binding,
                        catalogue.all(),
                        tool -> namespaces == null || isToolOf(tool, namespaces),
                        other -> namespaces == null || isAgentOf(other, namespaces));
    }

    /** Whether a tool is for the tasks of one of these namespaces. */
    public boolean isToolOf(String tool, Collection<String> namespaces) {
        return namespaces.stream().anyMatch(namespace -> reserved.isToolOf(tool, namespace));
    }

    /** Whether an agent is for the tasks of one of these namespaces. */
    public boolean isAgentOf(String agent, Collection<String> namespaces) {
        return namespaces.stream().anyMatch(namespace -> reserved.isAgentOf(agent, namespace));
    }

    /** The tools of a task, by name, the same list until one changes; none if its agent, or one above it, is gone. */
    public List<ToolDefinition> visibleTo(AgentPin pin, String namespace) {
        List<AgentDefinition> binding = binding(pin);
        if (binding.isEmpty()) {
            return List.of();
        }
        Bound bound = new Bound(pin.reference(), pin.above(), reserved.kindOf(namespace));
        List<ToolDefinition> served = catalogue.all();
        List<Agents.Current> inForce = agents.all();
        Visible known = visible.get(bound);
        if (known == null || !known.isOf(binding, served, inForce)) {
            known = new Visible(
                    binding,
                    served,
                    inForce,
                    visibleTo(
                            binding,
                            served,
                            tool -> reserved.isToolOf(tool, namespace),
                            agent -> reserved.isAgentOf(agent, namespace)));
            if (visible.size() >= KINDS_KEPT) {
                visible.clear();
            }
            visible.put(bound, known);
        }
        return known.tools();
    }

    private List<ToolDefinition> visibleTo(
            List<AgentDefinition> binding,
            List<ToolDefinition> served,
            Predicate<String> toolsHere,
            Predicate<String> agentsHere) {
        return Stream.concat(
                        served.stream()
                                .filter(tool -> tool.processes() == null && toolsHere.test(tool.name()))
                                .filter(tool -> binding.stream().allMatch(agent -> agent.allows(tool.name()))),
                        subAgents.visibleTo(binding, agentsHere).stream())
                .sorted(Comparator.comparing(ToolDefinition::name))
                .toList();
    }

    /** Tasks that are bound by the same agents. */
    private record Bound(String reference, List<String> above, String namespaces) {}

    /** What such tasks see, and what follows from it: all of this as it was, which is immutable. */
    private record Visible(
            List<AgentDefinition> binding,
            List<ToolDefinition> served,
            List<Agents.Current> inForce,
            List<ToolDefinition> tools) {

        /** Whether it is still so, which is seen at once while they are the same objects. */
        boolean isOf(
                List<AgentDefinition> bindingNow, List<ToolDefinition> servedNow, List<Agents.Current> inForceNow) {
            return binding.equals(bindingNow) && served.equals(servedNow) && inForce.equals(inForceNow);
        }
    }

    /** For whose tasks an agent is; empty = for all. */
    public Set<String> namespacesOf(String agent) {
        return reserved.namespacesOf(agent);
    }

    /** The agent for the task that this event starts; see {@link Agents#pin}. */
    public AgentPin pin(String taskType, Event start, Instant now, List<String> above) {
        return agents.pin(taskType, start, now, above, here(start.namespace()));
    }

    /**
     * Why a task of a namespace cannot be for this model, or for that of its agent if it names none; empty = it can.
     *
     * @param model that the task names; {@code null} = none
     */
    public Optional<String> unknownModel(@Nullable String model, String taskType, String namespace) {
        String asked = model;
        if (asked == null && unknown(taskType, namespace).isEmpty()) {
            asked = agents.forNewTask(taskType, here(namespace)).model().name();
        }
        return asked == null || reserved.isModelOf(asked, namespace)
                ? Optional.empty()
                : Optional.of("There is no model \"" + asked + "\"");
    }

    /** Why no task of this type can start in a namespace; empty = it can. */
    public Optional<String> unknown(String taskType, String namespace) {
        try {
            agents.forNewTask(taskType, here(namespace));
            return Optional.empty();
        } catch (UnknownAgentException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** The name of the agent that would take a new task of this type; the type itself if there is none. */
    public String agentFor(String taskType, String namespace) {
        return unknown(taskType, namespace).isPresent()
                ? taskType
                : agents.forNewTask(taskType, here(namespace)).name();
    }

    private Predicate<String> here(String namespace) {
        return agent -> reserved.isAgentOf(agent, namespace);
    }

    /** Whether this agent may give another one the word in a session in which both take part; not if it is gone. */
    public boolean mayAddress(AgentPin pin, String name) {
        return agents.find(pin.reference())
                .map(agent -> agent.steps().allowedAgents())
                .filter(allowed -> allowed.contains("*") || allowed.contains(name))
                .isPresent();
    }

    /** Whether there is still the agent that a task is to go on with. */
    public boolean knows(AgentPin pin) {
        return agents.find(pin.reference()).isPresent();
    }

    /** Where the entities of this task are kept; empty = nobody looks for them. */
    public Optional<KnowledgeUse.EntityScope> entityScope(AgentPin pin) {
        return agents.find(pin.reference()).map(AgentDefinition::knowledge).map(KnowledgeUse::entities);
    }

    /** Whether the tool calls of one step of this task run one after the other. */
    public boolean sequential(AgentPin pin) {
        return agents.find(pin.reference())
                .map(agent -> agent.steps().sequential())
                .orElse(false);
    }

    /**
     * What a new task may use at most, beside what the configuration allows any task; no less if there is no agent for
     * it.
     *
     * @param above references of the agents of the tasks that led to it
     */
    public TaskLimits limits(String taskType, String namespace, List<String> above) {
        TaskLimits limits = TaskLimits.UNLIMITED;
        if (unknown(taskType, namespace).isEmpty()) {
            limits = agents.forNewTask(taskType, here(namespace)).limits().asTaskLimits();
        }
        for (String reference : above) {
            limits = agents.version(reference)
                    .map(agent -> agent.limits().asTaskLimits())
                    .map(limits::atMost)
                    .orElse(limits);
        }
        return limits;
    }

    /**
     * Where a call of this task goes, and who has to agree first: everybody whom the task's agent or an agent above it
     * would have to ask. Nobody is asked for a call whose arguments its tool cannot take: that fails as its worker
     * would have it fail.
     *
     * @param arguments JSON values, as the model gave them
     */
    public ToolCall.Route route(AgentPin pin, String namespace, String toolName, JsonObject arguments) {
        List<AgentDefinition> binding = binding(pin);
        if (SubAgents.owns(toolName)) {
            return subAgents.route(
                    binding, here(namespace), AgentDefinition.nameIn(pin.reference()), toolName, arguments);
        }
        ToolDefinition tool = catalogue.find(toolName);
        if (tool == null || tool.processes() != null || !reserved.isToolOf(toolName, namespace)) {
            return new ToolCall.Refuse(
                    "tool_not_found", "Tool \"" + toolName + "\" not found" + suggestion(pin, namespace, toolName));
        }
        if (binding.isEmpty()) {
            return notAllowed(toolName, AgentDefinition.nameIn(pin.reference()), ": an agent that binds it is gone");
        }
        for (AgentDefinition agent : binding) {
            if (!agent.allows(toolName)) {
                return notAllowed(
                        toolName,
                        agent.name(),
                        agent.equals(binding.getFirst()) ? "" : ", for which this task does a part of the work");
            }
        }
        ToolCall.Approval approval = approval(binding, tool, namespace, arguments);
        String unfit = approval == null ? "" : checks.problems(tool, arguments);
        return unfit.isEmpty()
                ? new ToolCall.Run(tool.toolset(), tool.timeoutMs(), approval)
                : new ToolCall.Refuse("invalid_arguments", unfit);
    }

    /** Whether a tool says of itself that it changes nothing; not if nobody serves it. */
    public boolean onlyReads(String toolName) {
        ToolDefinition tool = catalogue.find(toolName);
        return tool != null && tool.sideEffects() == ToolDefinition.SideEffects.READ_ONLY;
    }

    /** The processors of events of a type, in the order in which they are asked. */
    public List<ToolDefinition> processorsOf(EventType type) {
        List<ToolDefinition> all = catalogue.processors();
        return all.isEmpty()
                ? all
                : all.stream()
                        .filter(one ->
                                one.processes() != null && one.processes().of(type))
                        .toList();
    }

    /** Whether a processor can be asked: its toolset has a request topic. */
    public boolean isServed(ToolDefinition processor) {
        return catalogue.find(processor.name()) != null;
    }

    /** Why these cannot be the arguments of a call of this tool, as far as that can be said soon; empty if they can. */
    public Optional<String> unfit(String toolName, JsonObject arguments) {
        ToolDefinition tool = catalogue.find(toolName);
        return tool == null
                ? Optional.empty()
                : Optional.of(checks.problems(tool, arguments)).filter(problems -> !problems.isEmpty());
    }

    private ToolCall.@Nullable Approval approval(
            List<AgentDefinition> binding, ToolDefinition tool, String namespace, JsonObject arguments) {
        ToolCall.Approval strictest = null;
        for (AgentDefinition agent : binding) {
            ToolCall.Approval wanted = approvals.of(agent.name(), agent.approval(), tool, namespace, arguments);
            if (wanted != null) {
                strictest = strictest == null ? wanted : strictest.and(wanted);
            }
        }
        return strictest;
    }

    /**
     * The agent of a task, then those above it: what none of them may is not done. Empty = one is gone, and nothing is.
     */
    private List<AgentDefinition> binding(AgentPin pin) {
        List<AgentDefinition> binding = new ArrayList<>();
        agents.find(pin.reference()).ifPresent(binding::add);
        pin.above().forEach(reference -> agents.version(reference).ifPresent(binding::add));
        return binding.size() == 1 + pin.above().size() ? binding : List.of();
    }

    private static ToolCall.Refuse notAllowed(String toolName, String taskType, String why) {
        return new ToolCall.Refuse(
                "tool_not_allowed",
                "Tool \"" + toolName + "\" is not available for task type \"" + taskType + "\"" + why);
    }

    private String suggestion(AgentPin pin, String namespace, String toolName) {
        return visibleTo(pin, namespace).stream()
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
