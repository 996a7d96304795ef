package dev.millrace.agent;

import dev.millrace.agent.approval.ApprovalPolicy;
import dev.millrace.schemas.JsonObject;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An agent: who works on a task. Made by {@code agent.files}; {@code docs/agents.md} says what each part means.
 *
 * @param name what {@code taskType} says
 * @param version of what is written below: equal definitions have equal versions
 * @param description for people and models that choose an agent
 * @param prompt the system prompt, with its fields
 * @param tools what it may use
 * @param model how it is to be answered
 * @param limits of a task of this agent
 * @param approval which calls a person has to agree to
 * @param steps how it works on a task
 * @param knowledge what it has of documents and entities
 * @param expose by which of other people's protocols it can be had, such as {@code mcp}; empty = by none
 */
public record AgentDefinition(
        String name,
        String version,
        String description,
        PromptTemplate prompt,
        ToolSelection tools,
        ModelChoice model,
        AgentLimits limits,
        ApprovalPolicy approval,
        Steps steps,
        KnowledgeUse knowledge,
        List<String> expose) {

    private static final char AT = '@';

    public AgentDefinition {
        expose = List.copyOf(expose);
    }

    /**
     * How an agent is to be answered.
     *
     * @param name which model; {@code null} = the default one
     * @param temperature 0 to 2; {@code null} = the provider's own
     * @param fallback the model that is asked if that one fails for good; {@code null} = the one that is configured for
     *     it
     * @param output JSON Schema of the object that its final answers are; {@code null} = free text
     */
    public record ModelChoice(
            @Nullable String name,
            @Nullable Double temperature,
            @Nullable String fallback,
            @Nullable JsonObject output) {

        /** Free text, and no fallback of the agent's own. */
        public ModelChoice(@Nullable String name, @Nullable Double temperature) {
            this(name, temperature, null, null);
        }
    }

    /**
     * How an agent works on a task.
     *
     * @param sequential whether the tool calls of one step run one after the other, in the order in which the model
     *     asked
     * @param subAgents names of the agents that it may start tasks of; empty = none
     * @param allowedAgents names of the agents that it may give the word to in a session in which both take part; empty
     *     = none, {@code *} = all
     */
    public record Steps(boolean sequential, List<String> subAgents, List<String> allowedAgents) {
        public Steps {
            subAgents = List.copyOf(subAgents);
            allowedAgents = List.copyOf(allowedAgents);
        }

        /** Which may give the word to all. */
        public Steps(boolean sequential, List<String> subAgents) {
            this(sequential, subAgents, List.of("*"));
        }
    }

    /** What names this version of the agent for ever. */
    public String reference() {
        return referenceOf(name, version);
    }

    /** The {@link #reference} of a version. */
    public static String referenceOf(String name, String version) {
        return name + AT + version;
    }

    /** The name in a name or in a {@link #reference}. */
    public static String nameIn(String reference) {
        int at = reference.indexOf(AT);
        return at < 0 ? reference : reference.substring(0, at);
    }

    /** The version in a {@link #reference}; {@code null} = it is a name alone. */
    public static @Nullable String versionIn(String reference) {
        int at = reference.indexOf(AT);
        return at < 0 ? null : reference.substring(at + 1);
    }

    /** Whether the agent may use this tool. */
    public boolean allows(String toolName) {
        return tools.has(toolName) && !knowledge.isWithout(toolName);
    }

    /** The system prompt of a task. */
    public String promptWith(Map<String, String> fields) {
        return prompt.fill(fields);
    }
}
