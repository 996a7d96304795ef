package dev.millrace.agent.rest;

import dev.millrace.api.AgentView;
import dev.millrace.schemas.ToolDefinition;
import java.util.List;
import java.util.Optional;

/**
 * Which agents and tools there are. The rest of this service provides it as a bean. Answers at once, for any thread.
 */
public interface AgentCatalogue {

    /** All agents that take tasks now, by name, and the invalid agent files of this instance. */
    AgentView.All agents();

    /** One of them, with its prompt. */
    Optional<AgentView.Detail> agent(String name);

    /** Every tool that is served now, by name. */
    List<ToolDefinition> tools();

    /**
     * The tools that an agent may use, by name; with its own rules for approval in their place. Empty = no such agent.
     */
    Optional<List<ToolDefinition>> toolsOf(String agent);
}
