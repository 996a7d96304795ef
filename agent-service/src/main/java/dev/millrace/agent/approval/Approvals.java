package dev.millrace.agent.approval;

import dev.millrace.agent.core.ToolCall;
import dev.millrace.schemas.ToolDefinition;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says whether a person has to agree before a tool call runs. The agent's rule for the tool goes before the tool's own
 * policy, in both directions. A condition that cannot be compiled or evaluated asks (fail closed, X-37). Safe for any thread.
 */
public final class Approvals {

    private static final Logger LOGGER = LoggerFactory.getLogger(Approvals.class);
    /** Conditions stand in definitions, which are few; this only bounds what a year of edits leaves behind. */
    private static final int MAX_CONDITIONS = 1_000;

    private final long defaultExpiryMs;
    private final Map<String, Optional<Condition>> conditions = new ConcurrentHashMap<>();

    /**
     * Compiles conditions when they are first needed.
     *
     * @param defaultExpiry how long a person has where neither agent nor tool says, more than zero
     */
    public Approvals(Duration defaultExpiry) {
        if (defaultExpiry.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "millrace.agent.approval.default-expiry: expected 1 ms or more, found " + defaultExpiry);
        }
        this.defaultExpiryMs = defaultExpiry.toMillis();
    }

    /**
     * Whether a person has to agree, and how long they have.
     *
     * @param agent its name
     * @param policy the agent's own rules
     * @param arguments JSON values
     * @return {@code null} = nobody is asked
     */
    public ToolCall.@Nullable Approval of(
            String agent,
            ApprovalPolicy policy,
            ToolDefinition tool,
            String namespace,
            Map<String, @Nullable Object> arguments) {
        ApprovalPolicy.Rule rule = policy.of(tool.name()).orElse(null);
        ToolDefinition.Approval approval = rule == null ? tool.approval() : rule.approval();
        boolean ask =
                switch (approval) {
                    case ToolDefinition.Approval.Never never -> false;
                    case ToolDefinition.Approval.Always always -> true;
                    case ToolDefinition.Approval.When(String expression) ->
                        asks(expression, new Condition.Call(agent, namespace, tool.name(), arguments));
                };
        return ask ? approval(tool, rule) : null;
    }

    private ToolCall.Approval approval(ToolDefinition tool, ApprovalPolicy.@Nullable Rule rule) {
        Long expiry = rule == null || rule.expiryMs() == null ? tool.approvalExpiryMs() : rule.expiryMs();
        ToolDefinition.OnExpiry onExpiry = rule == null || rule.onExpiry() == null ? tool.onExpiry() : rule.onExpiry();
        return new ToolCall.Approval(
                expiry == null ? defaultExpiryMs : expiry, onExpiry == ToolDefinition.OnExpiry.APPROVE);
    }

    private boolean asks(String expression, Condition.Call call) {
        Optional<Condition> condition = conditions.get(expression);
        if (condition == null) {
            if (conditions.size() >= MAX_CONDITIONS) {
                conditions.clear();
            }
            condition = conditions.computeIfAbsent(expression, text -> compile(text, call.toolName()));
        }
        if (condition.isEmpty()) {
            return true;
        }
        try {
            return condition.get().holds(call);
        } catch (Condition.UndecidedException e) {
            LOGGER.atInfo()
                    .addKeyValue("toolName", call.toolName())
                    .addKeyValue("agent", call.agent())
                    .addKeyValue("condition", expression)
                    .addKeyValue("cause", e.getMessage())
                    .log("A condition for an approval could not be evaluated, so the call is asked for");
            return true;
        }
    }

    private static Optional<Condition> compile(String expression, String toolName) {
        try {
            return Optional.of(Condition.compile(expression));
        } catch (IllegalArgumentException e) {
            LOGGER.atWarn()
                    .addKeyValue("toolName", toolName)
                    .addKeyValue("condition", expression)
                    .addKeyValue("cause", e.getMessage())
                    .log("A condition for an approval is no expression, so every such call is asked for");
            return Optional.empty();
        }
    }
}
