package dev.millrace.agent.rest;

import dev.millrace.api.AgentView;
import dev.millrace.schemas.ToolDefinition;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which agents and tools there are. The rest of this service provides it as a bean. Answers at once, for any thread.
 */
public interface AgentCatalogue {

    /** All agents that take tasks now, by name, and the invalid agent files of this instance. */
    AgentView.All agents(Whose whose);

    /** One of them, with its prompt. */
    Optional<AgentView.Detail> agent(String name, Whose whose);

    /** Every tool that is served now, by name. */
    List<ToolDefinition> tools(Whose whose);

    /**
     * The tools that an agent may use, by name; with its own rules for approval in their place. Empty = no such agent.
     */
    Optional<List<ToolDefinition>> toolsOf(String agent, Whose whose);

    /**
     * For whom the answer is: what is reserved for other namespaces is left out.
     *
     * @param namespaces {@code null} = for whoever may see everything
     */
    record Whose(@Nullable Set<String> namespaces) {

        public Whose {
            namespaces = namespaces == null ? null : Set.copyOf(namespaces);
        }

        /**
         * As a query parameter says it: with slashes between them, since no namespace has one.
         *
         * @param text {@code null} = everything
         */
        static Whose of(@Nullable String text) {
            return new Whose(text == null ? null : Set.of(text.split("/")));
        }
    }
}
