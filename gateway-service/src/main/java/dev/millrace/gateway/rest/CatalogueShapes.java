package dev.millrace.gateway.rest;

import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** The JSON of agents and tools, as the OpenAPI document shows it. */
final class CatalogueShapes {
    private CatalogueShapes() {}

    @Schema(name = "Agents")
    record Agents(
            List<Agent> agents,

            @Schema(description = "Files of agents that are no good, and so change nothing.")
            List<AgentProblem> problems) {}

    @Schema(name = "Agent", description = "docs/agents.md says what each part means.")
    record Agent(
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
            Map<String, Object> output,

            AgentLimits limits,

            @Schema(description = "Its rules for approval, the more particular first; they go before the tools' own.")
            List<ApprovalRule> approval,

            @Schema(description = "Whether the tool calls of one step run one after the other.")
            boolean sequential,

            @Schema(description = "Agents that it may start tasks of.")
            List<String> subAgents) {}

    @Schema(name = "AgentDetail", description = "An agent, with these fields beside those of Agent.")
    record AgentDetail(
            @Schema(description = "With its fields, such as {{date}}.")
            String prompt) {}

    @Schema(name = "AgentLimits", description = "What its tasks may use; absent = as the installation has it.")
    record AgentLimits(
            @Nullable Integer iterations,
            @Nullable Long tokens,

            @Schema(description = "Millionths of a US dollar") @Nullable
            Long costMicros,

            @Nullable Integer toolCallsPerStep,
            @Nullable Long lifeTimeMs) {}

    @Schema(name = "ApprovalRule")
    record ApprovalRule(
            @Schema(description = "For these tools.", examples = "github__*")
            String tools,

            @Schema(description = "\"never\", \"always\" or {\"when\": expression}")
            Object approval,

            @Nullable Long expiryMs,
            @Nullable String onExpiry) {}

    @Schema(name = "AgentProblem")
    record AgentProblem(String file, String problem) {}

    @Schema(name = "Tools")
    record Tools(List<Tool> tools) {}

    @Schema(name = "Tool", description = "As on the definitions topic; docs/events.md.")
    record Tool(
            String name,
            String description,

            @Schema(description = "JSON Schema of the arguments")
            Map<String, Object> parameters,

            @Schema(description = "Whose request topic gets the calls.")
            String toolset,

            long timeoutMs,

            @Schema(
                    description = "What a call does to the world.",
                    enumeration = {"READ_ONLY", "IDEMPOTENT", "DESTRUCTIVE"})
            String sideEffects,

            @Schema(description = "\"never\", \"always\" or {\"when\": expression}")
            Object approval,

            @Nullable Long approvalExpiryMs,

            @Schema(enumeration = {"reject", "approve"}) String onExpiry,

            @Nullable Map<String, Object> retry) {}
}
