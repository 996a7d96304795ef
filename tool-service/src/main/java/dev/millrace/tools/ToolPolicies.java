package dev.millrace.tools;

import dev.millrace.schemas.ToolDefinition;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What the operator says about tools, over what they say themselves. Immutable. */
public final class ToolPolicies {

    /** Every tool as it is. */
    public static final ToolPolicies NONE = new ToolPolicies(Map.of(), Policy.DEFAULT);

    private final Map<String, Policy> byTool = new TreeMap<>();
    private final Policy others;

    /**
     * About one tool.
     *
     * @param approval who has to agree; {@code null} = as the tool says
     * @param maxConcurrent calls at the same time in this instance; 0 = no limit
     * @param maxPerMinute calls per minute in this instance; 0 = no limit
     * @param retry how often to try; {@code null} = as the tool says, or as others are tried
     */
    public record Policy(
            ToolDefinition.@Nullable Approval approval,
            int maxConcurrent,
            int maxPerMinute,
            ToolDefinition.@Nullable Retry retry) {

        /** Of a tool that nothing is said about: five at a time, three more attempts after a second. */
        public static final Policy DEFAULT =
                new Policy(null, 5, 0, new ToolDefinition.Retry(4, ToolDefinition.DEFAULT_RETRY_DELAY_MS));

        // written out, since javac forgets in compact form what may be null
        public Policy(
                ToolDefinition.@Nullable Approval approval,
                int maxConcurrent,
                int maxPerMinute,
                ToolDefinition.@Nullable Retry retry) {
            if (maxConcurrent < 0 || maxPerMinute < 0) {
                throw new IllegalArgumentException("max-concurrent and max-per-minute: expected 0 or more, found "
                        + maxConcurrent + " and " + maxPerMinute);
            }
            this.approval = approval;
            this.maxConcurrent = maxConcurrent;
            this.maxPerMinute = maxPerMinute;
            this.retry = retry;
        }
    }

    /**
     * Policies.
     *
     * @param byTool by the tool's name; a dash, a dot and an underscore are the same, since environment variables
     *     cannot tell them apart
     * @param others for all other tools
     */
    public ToolPolicies(Map<String, Policy> byTool, Policy others) {
        byTool.forEach((name, policy) -> this.byTool.put(bare(name), policy));
        this.others = others;
    }

    /** About this tool. */
    Policy of(String toolName) {
        return byTool.getOrDefault(bare(toolName), others);
    }

    /** The definition as it is published. */
    ToolDefinition apply(ToolDefinition tool) {
        ToolDefinition.Approval approval = of(tool.name()).approval();
        return approval == null ? tool : tool.withApproval(approval);
    }

    /** How often to try this tool. */
    ToolDefinition.Retry retry(ToolDefinition tool) {
        ToolDefinition.Retry ours =
                byTool.containsKey(bare(tool.name())) ? of(tool.name()).retry() : null;
        ToolDefinition.Retry own = ours == null ? tool.retry() : ours;
        ToolDefinition.Retry fallback = others.retry();
        return own != null ? own : fallback != null ? fallback : new ToolDefinition.Retry(1, 0);
    }

    /** Whether somebody said of this very tool that it may be tried again. */
    boolean isRepeatable(ToolDefinition tool) {
        Policy policy = byTool.get(bare(tool.name()));
        return tool.sideEffects() != ToolDefinition.SideEffects.DESTRUCTIVE
                || tool.retry() != null
                || (policy != null && policy.retry() != null);
    }

    /**
     * {@code never}, {@code always} or {@code when:} and a condition.
     *
     * @throws IllegalArgumentException if it is anything else
     */
    public static ToolDefinition.Approval approval(String text) {
        return switch (text.strip()) {
            case "never" -> new ToolDefinition.Approval.Never();
            case "always" -> new ToolDefinition.Approval.Always();
            case String other
            when other.startsWith("when:") ->
                new ToolDefinition.Approval.When(
                        other.substring("when:".length()).strip());
            default ->
                throw new IllegalArgumentException(
                        "approval: expected never, always or when:<condition>, found \"" + text + "\"");
        };
    }

    private static String bare(String name) {
        return name.replace('-', '_').replace('.', '_');
    }
}
