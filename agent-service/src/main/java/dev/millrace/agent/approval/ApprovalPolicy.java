package dev.millrace.agent.approval;

import dev.millrace.schemas.ToolDefinition;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An agent's own say on who has to agree; where it says nothing, the tool's policy holds.
 *
 * @param rules the more particular first; of those that match a tool, the first holds
 */
public record ApprovalPolicy(List<Rule> rules) {

    /** Leaves everything to the tools. */
    public static final ApprovalPolicy NONE = new ApprovalPolicy(List.of());

    public ApprovalPolicy {
        rules = rules.stream().sorted(Comparator.comparing(Rule::tools)).toList();
    }

    /**
     * What holds for some tools.
     *
     * @param tools for these
     * @param approval never, always, or on a condition
     * @param expiryMs how long the person has, in milliseconds, 1 or more; {@code null} = as the tool says
     * @param onExpiry what becomes of a call that nobody decided on; {@code null} = as the tool says
     */
    public record Rule(
            ToolPattern tools,
            ToolDefinition.Approval approval,
            @Nullable Long expiryMs,
            ToolDefinition.@Nullable OnExpiry onExpiry) {

        // written out, since javac forgets in compact form that parts of a nested type may be null
        public Rule(
                ToolPattern tools,
                ToolDefinition.Approval approval,
                @Nullable Long expiryMs,
                ToolDefinition.@Nullable OnExpiry onExpiry) {
            if (approval instanceof ToolDefinition.Approval.When(String expression)) {
                Condition.compile(expression);
            }
            this.tools = tools;
            this.approval = approval;
            this.expiryMs = expiryMs;
            this.onExpiry = onExpiry;
        }
    }

    /** The rule for a tool; empty = the tool's own policy holds. */
    public Optional<Rule> of(String toolName) {
        return rules.stream().filter(rule -> rule.tools().matches(toolName)).findFirst();
    }
}
