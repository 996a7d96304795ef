package dev.millrace.agent.approval;

import dev.millrace.agent.core.ToolCall;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
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
 * policy, in both directions. A condition that cannot be compiled or evaluated asks (fail closed). Safe for any thread.
 */
public final class Approvals {

    private static final Logger LOGGER = LoggerFactory.getLogger(Approvals.class);
    /** Conditions stand in definitions, which are few; this only bounds what a year of edits leaves behind. */
    private static final int MAX_CONDITIONS = 1_000;
    /** Of an expression, or of what is wrong with it, in characters. */
    private static final int MAX_SHOWN = 200;

    private final long defaultExpiryMs;
    private final Map<String, Compiled> conditions = new ConcurrentHashMap<>();

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
            String agent, ApprovalPolicy policy, ToolDefinition tool, String namespace, JsonObject arguments) {
        ApprovalPolicy.Rule rule = policy.of(tool.name()).orElse(null);
        return switch (rule == null ? tool.approval() : rule.approval()) {
            case ToolDefinition.Approval.Never never -> null;
            case ToolDefinition.Approval.Always always -> approval(tool, rule, null);
            case ToolDefinition.Approval.When(String expression) ->
                reason(expression, new Condition.Call(agent, namespace, tool.name(), arguments))
                        .map(reason -> approval(tool, rule, reason))
                        .orElse(null);
        };
    }

    private ToolCall.Approval approval(
            ToolDefinition tool, ApprovalPolicy.@Nullable Rule rule, @Nullable String reason) {
        Long expiry = rule == null || rule.expiryMs() == null ? tool.approvalExpiryMs() : rule.expiryMs();
        ToolDefinition.OnExpiry onExpiry = rule == null || rule.onExpiry() == null ? tool.onExpiry() : rule.onExpiry();
        return new ToolCall.Approval(
                expiry == null ? defaultExpiryMs : expiry, onExpiry == ToolDefinition.OnExpiry.APPROVE, reason);
    }

    /** Why a person has to agree by this condition; empty if nobody has to. */
    private Optional<String> reason(String expression, Condition.Call call) {
        Compiled condition = conditions.get(expression);
        if (condition == null) {
            if (conditions.size() >= MAX_CONDITIONS) {
                conditions.clear();
            }
            condition = conditions.computeIfAbsent(expression, text -> compile(text, call.toolName()));
        }
        String named = "condition `" + JsonText.cut(expression, MAX_SHOWN) + "` ";
        return switch (condition) {
            case Compiled.None(String why) -> Optional.of(named + "is no expression: " + why);
            case Compiled.One(Condition one) -> {
                try {
                    yield one.holds(call) ? Optional.of(named + "holds") : Optional.empty();
                } catch (Condition.UndecidedException e) {
                    LOGGER.atInfo()
                            .addKeyValue("toolName", call.toolName())
                            .addKeyValue("agent", call.agent())
                            .addKeyValue("condition", expression)
                            .addKeyValue("cause", e.getMessage())
                            .log("A condition for an approval could not be evaluated, so the call is asked for");
                    yield Optional.of(named + "cannot be decided: " + e.words());
                }
            }
        };
    }

    private static Compiled compile(String expression, String toolName) {
        try {
            return new Compiled.One(Condition.compile(expression));
        } catch (IllegalArgumentException e) {
            LOGGER.atWarn()
                    .addKeyValue("toolName", toolName)
                    .addKeyValue("condition", expression)
                    .addKeyValue("cause", e.getMessage())
                    .log("A condition for an approval is no expression, so every such call is asked for");
            return new Compiled.None(JsonText.cut(String.valueOf(e.getMessage()), MAX_SHOWN));
        }
    }

    /** What came of an expression. */
    private sealed interface Compiled {
        record One(Condition condition) implements Compiled {}

        record None(String why) implements Compiled {}
    }
}
