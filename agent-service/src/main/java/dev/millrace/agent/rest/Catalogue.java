package dev.millrace.agent.rest;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.AgentLimits;
import dev.millrace.agent.Agents;
import dev.millrace.agent.ToolCatalogue;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.approval.ApprovalPolicy;
import dev.millrace.agent.files.AgentFolder;
import dev.millrace.schemas.ToolDefinition;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    public Map<String, ?> agents() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("agents", agents.all().stream().map(this::summary).toList());
        json.put("problems", problems.get());
        agents.forUnknown().ifPresent(name -> json.put("defaultAgent", name));
        return json;
    }

    @Override
    public Optional<Map<String, @Nullable Object>> agent(String name) {
        return agents.current(name).map(current -> {
            Map<String, @Nullable Object> agent = summary(current);
            agent.put("prompt", current.definition().prompt().text());
            return agent;
        });
    }

    @Override
    public List<ToolDefinition> tools() {
        return tools.all();
    }

    @Override
    public Optional<List<ToolDefinition>> toolsOf(String agent) {
        return agents.current(agent)
                .map(current -> routing.visibleTo(agent).stream()
                        .map(tool -> withRule(tool, current.definition().approval()))
                        .toList());
    }

    private Map<String, @Nullable Object> summary(Agents.Current current) {
        AgentDefinition agent = current.definition();
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("name", agent.name());
        json.put("description", agent.description());
        json.put("version", agent.version());
        json.put("source", current.fromFile() ? "file" : "built-in");
        json.put(
                "tools",
                routing.visibleTo(agent.name()).stream()
                        .map(ToolDefinition::name)
                        .toList());
        json.put("toolPatterns", agent.tools().patterns());
        json.put(
                "missingTools",
                agent.tools().named().stream()
                        .filter(name -> tools.find(name) == null)
                        .toList());
        json.put("model", agent.model().name());
        json.put("fallback", agent.model().fallback());
        json.put("temperature", agent.model().temperature());
        json.put("output", agent.model().output());
        json.put("limits", limits(agent.limits()));
        json.put("approval", rules(agent.approval()));
        json.put("sequential", agent.steps().sequential());
        json.put("subAgents", agent.steps().subAgents());
        return json;
    }

    private static Map<String, Object> limits(AgentLimits limits) {
        Map<String, Object> json = new LinkedHashMap<>();
        put(json, "iterations", limits.iterations());
        put(json, "tokens", limits.tokens());
        put(json, "costMicros", limits.costMicros());
        put(json, "toolCallsPerStep", limits.toolCallsPerStep());
        put(json, "lifeTimeMs", limits.lifeTimeMs());
        return json;
    }

    private static List<Map<String, Object>> rules(ApprovalPolicy policy) {
        return policy.rules().stream()
                .map(rule -> {
                    Map<String, Object> json = new LinkedHashMap<>();
                    json.put("tools", rule.tools().text());
                    json.put("approval", rule.approval().json());
                    put(json, "expiryMs", rule.expiryMs());
                    put(json, "onExpiry", rule.onExpiry());
                    return json;
                })
                .toList();
    }

    private static void put(Map<String, Object> json, String key, @Nullable Object value) {
        if (value != null) {
            json.put(key, value);
        }
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
