package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** An agent as it is now; docs/agents.md says what each part means. */
@Schema(name = "Agent", description = "docs/agents.md says what each part means.")
public record AgentView(
        String name,
        String description,

        @Schema(
                description = "Of its definition; a task stays on the one that it began with.",
                examples = "3c237af36b37")
        String version,

        @Schema(
                description = "Who defines it.",
                enumeration = {"built-in", "file"})
        String source,

        @Schema(description = "The tools that it may use now.")
        List<String> tools,

        @Schema(description = "As its definition names them.", examples = "github__*")
        List<String> toolPatterns,

        @Schema(description = "Tools that it names and nobody serves now.")
        List<String> missingTools,

        @Schema(description = "Name of a model; null = the default one.") @Nullable
        String model,

        @Schema(description = "The model that is asked if that one fails for good; null = as it is configured.")
        @Nullable
        String fallback,

        @Schema(description = "0 to 2; null = the provider's own.") @Nullable
        Double temperature,

        @Schema(description = "JSON Schema of its final answers; null = free text.") @Nullable
        Map<String, @Nullable Object> output,

        Limits limits,

        @Schema(description = "Its rules for approval, the more particular first; they go before the tools' own.")
        List<Rule> approval,

        @Schema(description = "Whether the tool calls of one step run one after the other.")
        boolean sequential,

        @Schema(description = "Agents that it may start tasks of.")
        List<String> subAgents,

        @Schema(
                description =
                        "Agents that it may give the word to in a session of several, * = all; absent from an older"
                                + " agent-service.",
                examples = "*")
        @Nullable
        List<String> allowedAgents,

        @Schema(description = "What it has of documents and entities; absent from an older agent-service.") @Nullable
        Knowledge knowledge,

        @Schema(description = "Other people's protocols by which it can be had.", examples = "mcp") @Nullable
        List<String> expose,

        @Schema(description = "Its tasks are of these namespaces; absent = of any.")
        @JsonInclude(JsonInclude.Include.NON_NULL)
        @Nullable
        List<String> namespaces) {

    /**
     * Whether it can have tasks of one of these namespaces.
     *
     * @param any {@code null} = of all
     */
    public boolean isFor(@Nullable Set<String> any) {
        return namespaces == null || any == null || namespaces.stream().anyMatch(any::contains);
    }

    /** Whether it can be had by this one of other people's protocols. */
    public boolean isExposedBy(String protocol) {
        return expose != null && expose.contains(protocol); // an older agent-service says nothing of it
    }

    /** All agents. */
    @Schema(name = "Agents")
    public record All(
            List<AgentView> agents,

            @Schema(description = "Files of agents that are no good, and so change nothing.")
            List<Problem> problems,

            @Schema(description = "The agent that takes tasks for names that nobody has; absent if none does.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            String defaultAgent) {}

    /** An agent with its prompt. */
    @Schema(name = "AgentDetail", description = "An agent, with these fields beside those of Agent.")
    public record Detail(
            @JsonUnwrapped AgentView agent,

            @Schema(description = "With its fields, such as {{date}}.")
            String prompt) {}

    /** What its tasks may use; absent = as the installation has it. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "AgentLimits", description = "What its tasks may use; absent = as the installation has it.")
    public record Limits(
            @Nullable Integer iterations,
            @Nullable Long tokens,

            @Schema(description = "Millionths of a US dollar") @Nullable
            Long costMicros,

            @Nullable Integer toolCallsPerStep,
            @Nullable Long lifeTimeMs) {}

    /** What it has of documents and entities. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "AgentKnowledge", description = "What it has of documents and entities.")
    public record Knowledge(
            @Schema(
                    description = "Whether passages are in its prompt, or it looks things up, or neither.",
                    enumeration = {"auto", "tool", "disabled"})
            String mode,

            @Schema(description = "The collection that its prompt's passages are from; absent = all.") @Nullable
            String collection,

            @Schema(description = "The most passages in its prompt.")
            int limit,

            @Schema(
                    description = "Where entities of its tasks are kept; absent = they are not looked for.",
                    enumeration = {"thread", "agent", "global"})
            @Nullable
            String entities) {}

    /** Which calls need an approval. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @Schema(name = "ApprovalRule")
    public record Rule(
            @Schema(description = "For these tools.", examples = "github__*")
            String tools,

            @Schema(description = "\"never\", \"always\" or {\"when\": expression}")
            Object approval,

            @Nullable Long expiryMs,
            @Nullable String onExpiry) {}

    /** A file that changes nothing. */
    @Schema(name = "AgentProblem")
    public record Problem(String file, String problem) {}
}
