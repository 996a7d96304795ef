package dev.millrace.agent.rest;

import dev.millrace.schemas.ToolDefinition;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Which agents and tools there are. The rest of this service provides it as a bean. Answers at once, for any thread. */
public interface AgentCatalogue {

    /**
     * All agents that take tasks now, by name, and the agents' files of this instance that are no good: {@code agents} and
     * {@code problems}.
     */
    Map<String, ?> agents();

    /** One of them, with its prompt. */
    Optional<Map<String, @Nullable Object>> agent(String name);

    /** Every tool that is served now, by name. */
    List<ToolDefinition> tools();

    /** The tools that an agent may use, by name; with its own rules for approval in their place. Empty = no such agent. */
    Optional<List<ToolDefinition>> toolsOf(String agent);
}
