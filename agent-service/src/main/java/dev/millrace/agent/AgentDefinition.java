package dev.millrace.agent;

import dev.millrace.agent.approval.ApprovalPolicy;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An agent: who works on a task.
 *
 * @param name what {@code taskType} says
 * @param description for people who choose an agent
 * @param prompt the system prompt
 * @param tools names of the tools it may use; {@code *} = all
 * @param model the model it asks; {@code null} = the default one
 * @param approval which calls a person has to agree to
 */
public record AgentDefinition(
        String name,
        String description,
        String prompt,
        Set<String> tools,
        @Nullable String model,
        ApprovalPolicy approval) {

    /** In {@link #tools}: every tool. */
    public static final String ALL_TOOLS = "*";

    public AgentDefinition {
        tools = Set.copyOf(tools);
    }

    /** Whether the agent may use this tool (F-154). */
    public boolean allows(String toolName) {
        return tools.contains(ALL_TOOLS) || tools.contains(toolName);
    }
}
