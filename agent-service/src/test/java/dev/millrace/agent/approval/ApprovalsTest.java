package dev.millrace.agent.approval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.core.ToolCall;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.ToolDefinition.Approval;
import dev.millrace.schemas.ToolDefinition.OnExpiry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ApprovalsTest {

    private static final Approval NEVER = new Approval.Never();
    private static final Approval ALWAYS = new Approval.Always();
    private static final ToolCall.Approval BY_DEFAULT = new ToolCall.Approval(3_600_000, false);

    private final Approvals approvals = new Approvals(Duration.ofHours(1));

    @Test
    @DisplayName("without a rule of the agent the tool's policy holds")
    void shouldFollowTheTool() {
        assertThat(ask(ApprovalPolicy.NONE, tool("a", NEVER))).isNull();
        assertThat(ask(ApprovalPolicy.NONE, tool("a", ALWAYS))).isEqualTo(BY_DEFAULT);
        assertThat(ask(ApprovalPolicy.NONE, tool("a", new Approval.When("args.n == 1"))))
                .isEqualTo(because("condition `args.n == 1` holds"));
        assertThat(ask(ApprovalPolicy.NONE, tool("a", new Approval.When("args.n == 2"))))
                .isNull();
    }

    @Test
    @DisplayName("the agent's rule widens and narrows what the tool says")
    void shouldPreferTheAgent() {
        assertThat(ask(policy(rule("a", ALWAYS)), tool("a", NEVER))).isEqualTo(BY_DEFAULT);
        assertThat(ask(policy(rule("a", NEVER)), tool("a", ALWAYS))).isNull();
        assertThat(ask(policy(rule("b", NEVER)), tool("a", ALWAYS))).isEqualTo(BY_DEFAULT);
    }

    @Test
    @DisplayName("of several patterns the most particular holds")
    void shouldPreferTheMostParticularPattern() {
        ApprovalPolicy policy = policy(
                rule("*", ALWAYS),
                rule("github__*", NEVER),
                rule("github__delete*", ALWAYS),
                rule("github__me", ALWAYS));
        assertThat(ask(policy, tool("read_file", NEVER))).isNotNull();
        assertThat(ask(policy, tool("github__list", ALWAYS))).isNull();
        assertThat(ask(policy, tool("github__delete_repo", NEVER))).isNotNull();
        assertThat(ask(policy, tool("github__me", NEVER))).isNotNull();
        assertThat(ask(policy, tool("github_", NEVER))).isNotNull();
    }

    @Test
    @DisplayName("time and end come from the agent, then the tool, then the installation")
    void shouldSayHowLongAndWhatThen() {
        ToolDefinition hour = new ToolDefinition(
                "a",
                "",
                JsonObject.empty(),
                "tool",
                1,
                ToolDefinition.SideEffects.DESTRUCTIVE,
                ALWAYS,
                5_000L,
                OnExpiry.APPROVE,
                null);
        assertThat(ask(ApprovalPolicy.NONE, hour)).isEqualTo(new ToolCall.Approval(5_000, true));
        assertThat(ask(policy(rule("a", ALWAYS)), hour)).isEqualTo(new ToolCall.Approval(5_000, true));
        assertThat(ask(policy(new ApprovalPolicy.Rule(new ToolPattern("a"), ALWAYS, 7_000L, OnExpiry.REJECT)), hour))
                .isEqualTo(new ToolCall.Approval(7_000, false));
    }

    @Test
    @DisplayName("X-37: a condition that fails, or is none, asks")
    void shouldAskWhenInDoubt() {
        assertThat(ask(ApprovalPolicy.NONE, tool("a", new Approval.When("args.missing == 1"))))
                .isEqualTo(
                        because(
                                "condition `args.missing == 1` cannot be decided: missing is not there (expected true or false, found no such key: missing)"));
        assertThat(ask(ApprovalPolicy.NONE, tool("a", new Approval.When("this is no expression"))))
                .extracting(ToolCall.Approval::reason)
                .asString()
                .startsWith("condition `this is no expression` is no expression: ");
    }

    @Test
    @DisplayName("who is asked because a condition cannot be decided is told what the arguments are")
    void shouldSayWhyItCannotBeDecided() {
        ToolDefinition pay = tool("pay", new Approval.When("args.amount > 100 && args[\"to\"].city == 'x'"));

        assertThat(approvals.of(
                        "general",
                        ApprovalPolicy.NONE,
                        pay,
                        "default",
                        JsonObject.of(Map.of("amount", "59.90", "to", List.of()))))
                .extracting(ToolCall.Approval::reason)
                .asString()
                .startsWith(
                        "condition `args.amount > 100 && args[\"to\"].city == 'x'` cannot be decided: amount is a text"
                                + " (\"59.90\"), to.city is not there (");
    }

    @Test
    @DisplayName("of several agents that ask each says why")
    void shouldKeepAllReasons() {
        ToolCall.Approval one = because("a");
        assertThat(one.and(because("b"))).isEqualTo(because("a; b"));
        assertThat(one.and(one)).isEqualTo(one);
        assertThat(one.and(BY_DEFAULT)).isEqualTo(one);
        assertThat(BY_DEFAULT.and(one)).isEqualTo(one);
    }

    private static ToolCall.Approval because(String reason) {
        return new ToolCall.Approval(3_600_000, false, reason);
    }

    @Test
    @DisplayName("an agent's bad condition is refused when it is read")
    void shouldRefuseBadConditionsOfAgents() {
        assertThatThrownBy(() -> rule("a", new Approval.When("args.")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("line 1");
    }

    private ToolCall.@Nullable Approval ask(ApprovalPolicy policy, ToolDefinition tool) {
        return approvals.of("general", policy, tool, "default", JsonObject.of(Map.of("n", 1)));
    }

    private static ApprovalPolicy policy(ApprovalPolicy.Rule... rules) {
        return new ApprovalPolicy(List.of(rules));
    }

    private static ApprovalPolicy.Rule rule(String pattern, Approval approval) {
        return new ApprovalPolicy.Rule(new ToolPattern(pattern), approval, null, null);
    }

    private static ToolDefinition tool(String name, Approval approval) {
        return new ToolDefinition(name, "", JsonObject.empty(), "tool", 1, ToolDefinition.SideEffects.DESTRUCTIVE)
                .withApproval(approval);
    }
}
