package dev.millrace.agent.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.JsonObject;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RuleSetTest {

    private static final Rule.Source SOURCE = new Rule.Source("1", JsonObject.of(Map.of()));

    @Test
    @DisplayName("F-235 rule_matching_exact: a name is for events of that type alone")
    void shouldMatchOneType() {
        RuleSet rules = new RuleSet(List.of(rule("a", 0, "order.placed")));

        assertThat(winner(rules, "order.placed")).isEqualTo("a");
        assertThat(winner(rules, "order.placed.twice")).isEqualTo("nobody");
        assertThat(winner(rules, "order")).isEqualTo("nobody");
        assertThat(winner(rules, "Order.placed")).isEqualTo("nobody");
    }

    @Test
    @DisplayName("F-235 rule_matching_array, F-197: several types")
    void shouldMatchSeveralTypes() {
        RuleSet rules = new RuleSet(List.of(rule("a", 0, "order.placed", "order.paid", "stock.*")));

        assertThat(winner(rules, "order.placed")).isEqualTo("a");
        assertThat(winner(rules, "order.paid")).isEqualTo("a");
        assertThat(winner(rules, "stock.low")).isEqualTo("a");
        assertThat(winner(rules, "order.sent")).isEqualTo("nobody");
    }

    @ParameterizedTest
    @CsvSource({
        "session.*, session.created, true",
        "session.*, session.a.b, true",
        "session.*, session., true",
        "session.*, session, false",
        "session.*, sessions.created, false",
        "*, anything, true",
        "*, session.created, true"
    })
    @DisplayName("F-235 rule_matching_wildcard, F-198: x.* is what begins with x., * is everything")
    void shouldMatchByPattern(String pattern, String type, boolean matches) {
        assertThat(winner(new RuleSet(List.of(rule("a", 0, pattern))), type)).isEqualTo(matches ? "a" : "nobody");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "session*", "*.created", "**", ".*", "a.*.b"})
    void shouldRefuseOtherPatterns(String pattern) {
        assertThatThrownBy(() -> new TypePattern(pattern))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("found \"" + pattern + "\"");
    }

    @Test
    @DisplayName("F-235 rule_priority, F-194, F-195: the one of the highest priority takes the event, and no other")
    void shouldGoByPriority() {
        RuleSet rules = new RuleSet(
                List.of(rule("low", 1, "a.b"), rule("high", 9, "*"), rule("none", 0, "a.b"), rule("below", -1, "x")));

        assertThat(winner(rules, "a.b")).isEqualTo("high");
        assertThat(winner(rules, "x")).isEqualTo("high");
    }

    @Test
    @DisplayName("F-196, X-29: of equal priority exact goes before prefix before *, then as registered")
    void shouldGoByWidthThenByPlace() {
        Rule all = rule("all", 0, "*");
        Rule prefix = rule("prefix", 0, "a.*");
        Rule exact = rule("exact", 0, "a.b");

        assertThat(winner(new RuleSet(List.of(all, prefix, exact)), "a.b")).isEqualTo("exact");
        assertThat(winner(new RuleSet(List.of(all, prefix, exact)), "a.c")).isEqualTo("prefix");
        assertThat(winner(new RuleSet(List.of(all, prefix, exact)), "b")).isEqualTo("all");
        assertThat(winner(new RuleSet(List.of(rule("one", 0, "a.b"), rule("two", 0, "a.b"))), "a.b"))
                .isEqualTo("one");
        assertThat(winner(new RuleSet(List.of(all, rule("wide", 0, "*", "a.b"), exact)), "a.b"))
                .isEqualTo("wide");
    }

    @Test
    @DisplayName("F-199: a disabled rule that matches ends the search")
    void shouldLetADisabledRuleTakeItsEvents() {
        Rule off = new Rule("off", SOURCE, List.of(new TypePattern("a.b")), 5, false, Rule.Terms.NONE, new Rule.Log());

        assertThat(winner(new RuleSet(List.of(rule("on", 0, "*"), off)), "a.b")).isEqualTo("off");
    }

    @Test
    void shouldPassOverAFilterThatDoesNotFit() {
        RuleSet rules = new RuleSet(List.of(rule("first", 5, "a"), rule("second", 0, "a")));

        assertThat(rules.match("a", rule -> !rule.id().equals("first")))
                .map(Rule::id)
                .hasValue("second");
    }

    @Test
    void shouldPutARuleInThePlaceOfAnother() {
        // when
        RuleSet rules = new RuleSet(List.of(rule("a", 0, "x"), rule("b", 0, "x")))
                .with(List.of(rule("c", 0, "x"), rule("a", 0, "y")));

        // then
        assertThat(rules.rules()).extracting(Rule::id).containsExactly("a", "b", "c");
        assertThat(winner(rules, "y")).isEqualTo("a");
        assertThat(winner(rules, "x")).isEqualTo("b");
    }

    private static String winner(RuleSet rules, String type) {
        return rules.match(type, rule -> true).map(Rule::id).orElse("nobody");
    }

    private static Rule rule(String id, int priority, String... types) {
        return new Rule(
                id,
                SOURCE,
                Arrays.stream(types).map(TypePattern::new).toList(),
                priority,
                true,
                Rule.Terms.NONE,
                new Rule.Log());
    }
}
