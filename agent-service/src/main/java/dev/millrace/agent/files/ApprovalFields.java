package dev.millrace.agent.files;

import dev.millrace.agent.approval.ApprovalPolicy;
import dev.millrace.agent.approval.ToolPattern;
import dev.millrace.schemas.ToolDefinition;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code approval}: {@code always} or {@code never} for all tools, or rules by pattern, each {@code always},
 * {@code never} or an object of {@code when}, {@code expiry} and {@code onExpiry}.
 */
final class ApprovalFields {

    private static final String APPROVAL = "approval";
    private static final String FORMS = "always, never, or when, expiry and onExpiry";

    private ApprovalFields() {}

    static ApprovalPolicy read(DefinitionFields agent) throws InvalidAgentException {
        Object value = agent.raw(APPROVAL);
        if (value == null) {
            return ApprovalPolicy.NONE;
        }
        if (value instanceof String word) {
            return new ApprovalPolicy(
                    List.of(new ApprovalPolicy.Rule(ToolPattern.ALL, word(agent, APPROVAL, word), null, null)));
        }
        DefinitionFields byPattern = agent.object(APPROVAL);
        List<ApprovalPolicy.Rule> rules = new ArrayList<>();
        for (String pattern : byPattern.keys()) {
            rules.add(rule(byPattern, pattern));
        }
        return new ApprovalPolicy(rules);
    }

    private static ApprovalPolicy.Rule rule(DefinitionFields byPattern, String pattern) throws InvalidAgentException {
        try {
            ToolPattern tools = new ToolPattern(pattern);
            if (byPattern.raw(pattern) instanceof String word) {
                return new ApprovalPolicy.Rule(tools, word(byPattern, pattern, word), null, null);
            }
            if (byPattern.raw(pattern) == null) {
                throw byPattern.wrong(pattern, FORMS);
            }
            DefinitionFields rule = byPattern.object(pattern);
            rule.allowOnly("when", "expiry", "onExpiry");
            String when = rule.text("when");
            return new ApprovalPolicy.Rule(
                    tools,
                    when == null ? new ToolDefinition.Approval.Always() : new ToolDefinition.Approval.When(when),
                    rule.durationMs("expiry"),
                    onExpiry(rule));
        } catch (IllegalArgumentException e) {
            throw byPattern.complaint(pattern, e.getMessage());
        }
    }

    private static ToolDefinition.Approval word(DefinitionFields fields, String key, String word)
            throws InvalidAgentException {
        return switch (word) {
            case "always" -> new ToolDefinition.Approval.Always();
            case "never" -> new ToolDefinition.Approval.Never();
            default -> throw fields.wrong(key, FORMS);
        };
    }

    private static ToolDefinition.@Nullable OnExpiry onExpiry(DefinitionFields rule) throws InvalidAgentException {
        String word = rule.text("onExpiry");
        if (word == null) {
            return null;
        }
        return switch (word) {
            case "reject" -> ToolDefinition.OnExpiry.REJECT;
            case "approve" -> ToolDefinition.OnExpiry.APPROVE;
            default -> throw rule.wrong("onExpiry", "reject or approve");
        };
    }
}
