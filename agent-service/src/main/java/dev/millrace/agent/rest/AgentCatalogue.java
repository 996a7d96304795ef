package dev.millrace.agent.rest;

import java.util.List;

/** Which agents there are. The rest of this service provides it as a bean. */
@FunctionalInterface
public interface AgentCatalogue {

    /**
     * An agent, as far as others need to know it.
     *
     * @param name what stands as {@code taskType} in events
     * @param description what it is good for
     * @param tools the names of the tools that it may use
     */
    record AgentSummary(String name, String description, List<String> tools) {
        public AgentSummary {
            tools = List.copyOf(tools);
        }
    }

    /** All agents that take tasks now, in a stable order. Answers at once, for any thread. */
    List<AgentSummary> agents();
}
