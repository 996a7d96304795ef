package dev.millrace.agent.rest;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.AgentLimits;
import dev.millrace.agent.Agents;
import dev.millrace.agent.KnowledgeUse;
import dev.millrace.agent.ToolCatalogue;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.approval.ApprovalPolicy;
import dev.millrace.agent.files.AgentFolder;
import dev.millrace.api.AgentView;
import dev.millrace.schemas.ToolDefinition;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Agents and tools as they are now, in the words of the API. */
public final class Catalogue implements AgentCatalogue {

    private final Agents agents;
    private final ToolCatalogue tools;
    private final ToolRouting routing;
    private final Supplier<List<AgentFolder.Problem>> problems;

    /** Asks these each time. */
    public Catalogue(
            Agents agents, ToolCatalogue tools, ToolRouting routing, Supplier<List<AgentFolder.Problem>> problems) {
        this.agents = agents;
        this.tools = tools;
        this.routing = routing;
        this.problems = problems;
    }

    @Override
    public AgentView.All agents(Whose whose) {
        return new AgentView.All(
                agents.all().stream()
                        .filter(current -> isAgentOf(current.definition().name(), whose))
                        .map(current -> view(current, whose))
                        .toList(),
                problems.get().stream()
                        .map(one -> new AgentView.Problem(one.file(), one.problem()))
                        .toList(),
                agents.forUnknown().orElse(null));
    }

    @Override
    public Optional<AgentView.Detail> agent(String name, Whose whose) {
        return agents.current(name)
                .filter(current -> isAgentOf(name, whose))
                .map(current -> new AgentView.Detail(
                        view(current, whose), current.definition().prompt().text()));
    }

    @Override
    public List<ToolDefinition> tools(Whose whose) {
        return tools.all().stream().filter(tool -> isToolOf(tool, whose)).toList();
    }

    private boolean isToolOf(ToolDefinition tool, Whose whose) {
        Set<String> namespaces = whose.namespaces();
        return namespaces == null || routing.isToolOf(tool.name(), namespaces);
    }

    private boolean isAgentOf(String agent, Whose whose) {
        Set<String> namespaces = whose.namespaces();
        return namespaces == null || routing.isAgentOf(agent, namespaces);
    }

    @Override
    public Optional<List<ToolDefinition>> toolsOf(String agent, Whose whose) {
        return agents.current(agent)
                .filter(current -> isAgentOf(agent, whose))
                .map(current -> routing.visibleTo(agent, whose.namespaces()).stream()
                        .map(tool -> withRule(tool, current.definition().approval()))
                        .toList());
    }

    private AgentView view(Agents.Current current, Whose whose) {
        AgentDefinition agent = current.definition();
        AgentLimits limits = agent.limits();
        return new AgentView(
                agent.name(),
                agent.description(),
                agent.version(),
                current.fromFile() ? "file" : "built-in",
                routing.visibleTo(agent.name(), whose.namespaces()).stream()
                        .map(ToolDefinition::name)
                        .toList(),
                agent.tools().patterns(),
                agent.tools().named().stream()
                        .filter(name -> tools.find(name) == null)
                        .toList(),
                agent.model().name(),
                agent.model().fallback(),
                agent.model().temperature(),
                agent.model().output(),
                new AgentView.Limits(
                        limits.iterations(),
                        limits.tokens(),
                        limits.costMicros(),
                        limits.toolCallsPerStep(),
                        limits.lifeTimeMs()),
                agent.approval().rules().stream()
                        .map(rule -> new AgentView.Rule(
                                rule.tools().text(),
                                rule.approval().json(),
                                rule.expiryMs(),
                                rule.onExpiry() == null
                                        ? null
                                        : rule.onExpiry().name().toLowerCase(Locale.ROOT)))
                        .toList(),
                agent.steps().sequential(),
                agent.steps().subAgents(),
                agent.steps().allowedAgents(),
                knowledge(agent.knowledge()),
                agent.expose(),
                namespaces(agent.name(), whose));
    }

    private @Nullable List<String> namespaces(String agent, Whose whose) {
        Set<String> all = routing.namespacesOf(agent);
        Set<String> shown = whose.namespaces();
        return all.isEmpty()
                ? null
                : all.stream()
                        .filter(namespace -> shown == null || shown.contains(namespace))
                        .toList();
    }

    private static AgentView.Knowledge knowledge(KnowledgeUse use) {
        return new AgentView.Knowledge(
                use.mode().wireName(),
                use.collection(),
                use.limit(),
                use.entities() == null ? null : use.entities().wireName());
    }

    private static ToolDefinition withRule(ToolDefinition tool, ApprovalPolicy policy) {
        return policy.of(tool.name())
                .map(rule -> new ToolDefinition(
                        tool.name(),
                        tool.description(),
                        tool.parameters(),
                        tool.toolset(),
                        tool.timeoutMs(),
                        tool.sideEffects(),
                        rule.approval(),
                        rule.expiryMs() == null ? tool.approvalExpiryMs() : rule.expiryMs(),
                        rule.onExpiry() == null ? tool.onExpiry() : rule.onExpiry(),
                        tool.retry()))
                .orElse(tool);
    }
}
